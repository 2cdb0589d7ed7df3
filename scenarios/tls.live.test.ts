import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import tls from 'node:tls'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { ask } from '@gateway/testbed/ask'
import { liveTest } from '@gateway/testbed/live-test'
import { openLiveStack, chat } from './src/stack.ts'

/* oxlint-disable no-empty-pattern -- vitest reads from the pattern what a fixture needs, and an empty one is required for nothing */

// Every connection between processes by TLS, with certificates of an authority that only this test knows ("TLS between
// processes" in docs/operating.md). Services trust it as NODE_EXTRA_CA_CERTS makes them do, which is read when a process starts.

const run = promisify(execFile)
const hasOpenssl = await run('openssl', ['version']).then(
  () => true,
  () => false,
)
if (!hasOpenssl) console.warn('TLS between processes is not tried: there is no openssl on this machine.')

/** An authority, and a certificate of it for this machine. */
async function makeCertificates(folder: string) {
  const openssl = (...words: string[]) => run('openssl', words, { cwd: folder })
  const days = ['-days', '1']
  await openssl(
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    ...days,
    '-subj',
    '/CN=test authority',
    '-keyout',
    'ca.key',
    '-out',
    'ca.crt',
  )
  await openssl(
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    ...days,
    '-subj',
    '/CN=localhost',
    '-addext',
    'subjectAltName=IP:127.0.0.1,DNS:localhost',
    '-addext',
    'basicConstraints=critical,CA:FALSE',
    '-CA',
    'ca.crt',
    '-CAkey',
    'ca.key',
    '-keyout',
    'server.key',
    '-out',
    'server.crt',
  )
  const read = (file: string) => readFileSync(path.join(folder, file), 'utf8')
  return { authority: read('ca.crt'), certificate: read('server.crt'), privateKey: read('server.key') }
}

const test = liveTest
  .extend('folder', ({}, { onCleanup }) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'tls-'))
    onCleanup(() => rmSync(folder, { recursive: true }))
    return folder
  })
  .extend('certificates', ({ folder }) => makeCertificates(folder))
  // A proxy speaks TLS for Redis, because not every build of it can.
  .extend('securedRedis', async ({ redis, certificates }, { onCleanup }) => {
    const { hostname, port, pathname } = new URL(redis.url)
    const server = tls.createServer({ cert: certificates.certificate, key: certificates.privateKey }, (secured) => {
      const plain = connect(Number(port), hostname)
      secured.pipe(plain).pipe(secured)
      for (const [one, other] of [
        [secured, plain],
        [plain, secured],
      ] as const)
        one.on('error', () => other.destroy()).on('close', () => other.destroy())
    })
    server.listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    onCleanup(() => void server.close())
    return `rediss://127.0.0.1:${(server.address() as { port: number }).port}${pathname}`
  })
  .extend('securedPostgres', async ({ postgresServer, certificates }) => {
    // Written by the server into its data folder, which may be in a container.
    for (const [file, text] of [
      ['server.crt', certificates.certificate],
      ['server.key', certificates.privateKey],
    ])
      await ask(
        postgresServer.adminUrl,
        `COPY (SELECT string_to_table('${text}', E'\\n')) TO PROGRAM 'umask 077 && cat > ${file}'`,
      )
    await ask(postgresServer.adminUrl, 'ALTER SYSTEM SET ssl = on')
    await ask(postgresServer.adminUrl, 'SELECT pg_reload_conf()')
    await expect.poll(() => ask(postgresServer.adminUrl, 'SHOW ssl')).toEqual([{ ssl: 'on' }])
    return postgresServer
  })

const verified = (url: string) => `${url}?sslmode=verify-full`

test.skipIf(!hasOpenssl)(
  'calls are answered with every connection by TLS, and an unknown authority is refused',
  async ({ securedPostgres, securedRedis, certificates }) => {
    const { certificate, privateKey, authority } = certificates
    const secured = () => ({ TLS_CERTIFICATE: certificate, TLS_PRIVATE_KEY: privateKey })
    const open = () =>
      openLiveStack({
        adminUrl: securedPostgres.adminUrl,
        ledgerUrl: verified(securedPostgres.ledgerUrl),
        consoleUrl: verified(securedPostgres.consoleUrl),
        redisUrl: securedRedis,
        environment: { ledger: secured, console: secured, gateway: secured },
      })
    await expect(open()).rejects.toThrow(/certificate/)

    const before = tls.getCACertificates('default')
    tls.setDefaultCACertificates([...before, authority])
    try {
      const stack = await open()
      try {
        const tenant = await stack.tenant(1_000_000n)
        for (const program of [...stack.ledgers, ...stack.gateways, ...stack.consoles])
          expect(program.url).toMatch(/^https:/)
        const answer = await chat(stack, tenant)
        expect(answer.status).toBe(200)
        expect(answer.headers.get('Strict-Transport-Security')).toBe('max-age=31536000')
        expect((await fetch(`${stack.gateways[0]!.url}/api/v2/session`)).status).toBe(200)
        const sessions = await ask(
          securedPostgres.adminUrl,
          `SELECT s.ssl, count(*)::int AS count FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid)
            WHERE a.usename IN ('svc_ledger_login', 'svc_console_login') AND a.application_name <> '' GROUP BY 1`,
        )
        expect(sessions).toEqual([{ ssl: true, count: expect.any(Number) }])
      } finally {
        await stack.close()
      }
    } finally {
      tls.setDefaultCACertificates(before)
    }
  },
  120_000,
)
