import { execFile } from 'node:child_process'
import { createPublicKey } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { readPublicKeys } from '@gateway/service-kit/process/service-keys'
import { asByDefault, type ComposeService, readComposeFile } from './compose-file.ts'
import { environmentProblems } from './environment-problems.ts'
import { isProgram, programs } from './programs.ts'
import { canRender, type Manifest, overlays, projectFolder, renderOverlay } from './render.ts'
import { workloadsOf, type Workload } from './workloads.ts'

// Who can read which secret: the whole table, so that a new cell is a decision (SECURITY.md).

const run = promisify(execFile)
/** Variables that hold a secret, or name a file with one. */
const ofSecret = /SECRET|PASSWORD|TOKEN|_KEY|DATABASE_URL|REDIS_URL/

describe('compose', async () => {
  const { services } = readComposeFile()
  const folder = mkdtempSync(path.join(tmpdir(), 'compose-secrets-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const make = () => run('node', [path.join(projectFolder, 'deploy/compose/make-secrets.mjs'), folder])
  await make()
  const filesOf = (place: string) => readdirSync(path.join(folder, place)).toSorted()
  const read = (place: string, file: string) => readFileSync(path.join(folder, place, file), 'utf8')

  /** The volumes of secrets that a service mounts, by the folder that make-secrets.mjs fills. */
  const mounted = (name: string) =>
    services[name]!.volumes.map((volume) => asByDefault(volume).split(':') as [string, string, string?]).filter(
      ([source]) => source === 'secrets' || source.endsWith('-secrets'),
    )
  const readers = Object.keys(services).filter((name) => mounted(name).length > 0 && name !== 'secrets')

  test('each service can read its own secrets, and no other’s', () => {
    const table = Object.fromEntries(
      readers.map((name) => [name, mounted(name).flatMap(([volume]) => filesOf(volume.replace(/-secrets$/, '')))]),
    )
    expect(table).toEqual({
      gateway: ['private-key.pem', 'redis-url'],
      worker: ['private-key.pem', 'redis-url'],
      ledger: [
        'console-public-keys.pem',
        'database-url',
        'gateway-public-keys.pem',
        'redis-url',
        'webhook-key',
        'worker-public-keys.pem',
      ],
      console: ['capture-key', 'database-url', 'private-key.pem', 'second-factor-key'],
      migrate: ['console-password', 'ledger-password', 'owner-url'],
      postgres: ['owner-password'],
      redis: ['password', 'redis.conf'],
      archive: ['owner-url'],
      seed: ['owner-url', 'private-key.pem'],
    })
    for (const name of readers) expect(mounted(name)).toEqual([[`${name}-secrets`, '/run/secrets', 'ro']])
    // Only the seed acts for another service: it funds what it makes.
    const privateKeys = ['gateway', 'worker', 'console'].map((name) => read(name, 'private-key.pem'))
    expect(new Set(privateKeys).size).toBe(3)
    expect(read('seed', 'private-key.pem')).toBe(privateKeys[2])
  })

  test('only who calls providers gets their keys, and no service but the migration has a secret as a text', () => {
    const all = Object.entries(services)
    const having = (part: (service: ComposeService) => boolean) =>
      all.flatMap(([name, one]) => (part(one) ? [name] : []))
    const filesNamed = (file: string) => having(({ env_file = [] }) => env_file.some(({ path: name }) => name === file))
    expect(filesNamed('providers.env')).toEqual(['gateway', 'worker'])
    expect(filesNamed('console.env')).toEqual(['console'])
    expect(filesNamed('ledger.env')).toEqual(['ledger'])
    expect(having(({ env_file = [] }) => env_file.length > 1)).toEqual([])
    expect(having(({ volumes }) => volumes.some((volume) => volume.includes('provider')))).toEqual([
      'gateway',
      'worker',
    ])
    const texts = all.flatMap(([name, { environment }]) =>
      Object.entries(environment)
        .filter(([variable, text]) => ofSecret.test(variable) && !/^\/run\/secrets\/[\w.-]+$/.test(text))
        .map(([variable, text]) => [name, variable, text]),
    )
    expect(texts).toEqual([['migrate', 'OPERATOR_TOKEN', '${OPERATOR_TOKEN:-}']]) // for the first operator
  })

  test('only the container that makes the secrets sees all of them, without a network', () => {
    expect(services['secrets']!.network_mode).toBe('none')
    expect(mounted('secrets').map(([volume, place]) => [volume, place])).toEqual([
      ['secrets', '/secrets/all'],
      ...readers.map((name) => [`${name}-secrets`, `/secrets/${name}`]),
    ])
  })

  test('the files have mode 0400 and belong to the user of their service', () => {
    const users: Record<string, number> = { postgres: 999, redis: 999 }
    for (const name of readers)
      for (const file of filesOf(name)) {
        const { mode, uid } = statSync(path.join(folder, name, file))
        expect([name, file, (mode & 0o777).toString(8)]).toEqual([name, file, '400'])
        const user = services[name]!.user === '0:0' ? 0 : (users[name] ?? 1000)
        if (process.getuid?.() === 0) expect([name, file, uid]).toEqual([name, file, user])
      }
    for (const place of ['all', ...readers]) expect(statSync(path.join(folder, place)).mode & 0o077).toBe(0)
  })

  test('every file is read, and every file that is read is there, with a text that fits', () => {
    for (const name of readers) {
      const { environment, command, healthcheck } = services[name]!
      const wanted = JSON.stringify([environment, command, healthcheck]).matchAll(/\/run\/secrets\/([\w.-]+)/g)
      expect([name, [...new Set([...wanted].map(([, file]) => file!))].toSorted()]).toEqual([name, filesOf(name)])
      for (const [variable, text] of Object.entries(environment)) {
        const [, file] = /^\/run\/secrets\/(.+)$/.exec(text) ?? []
        if (file === undefined || !isProgram(name)) continue
        const given = { [variable.replace(/_FILE$/, '')]: read(name, file).trim() }
        const problems = environmentProblems(programs[name], given)
        expect(problems.filter((problem) => !problem.endsWith('is missing'))).toEqual([])
      }
    }
    expect(read('ledger', 'database-url')).toBe(
      `postgres://svc_ledger_login:${read('migrate', 'ledger-password')}@postgres:5432/gateway`,
    )
    expect(read('gateway', 'redis-url')).toBe(`redis://:${read('redis', 'password')}@redis:6379`)
    for (const name of readers)
      for (const file of filesOf(name)) {
        const [, host] = /@([a-z]+):\d+/.exec(read(name, file)) ?? []
        const shared = services[host ?? name]?.networks?.filter((network) =>
          services[name]!.networks?.includes(network),
        )
        expect([name, file, shared]).not.toEqual([name, file, []])
      }
    expect(readPublicKeys(read('ledger', 'console-public-keys.pem'))).toHaveLength(1)
  })

  test('a second start changes nothing, and takes away what a service should not have', async () => {
    const all = () => ['all', ...readers].map((place) => filesOf(place).map((file) => read(place, file)))
    const made = all()
    await run('cp', [path.join(folder, 'migrate/owner-url'), path.join(folder, 'gateway/owner-url')])
    await make()
    expect(all()).toEqual(made)
    expect(new Set(filesOf('all').map((file) => read('all', file))).size).toBe(filesOf('all').length)
  })
})

test('the runbook says what to do when a key of a service has leaked, and compose can set each previous key', () => {
  const text = (file: string) => readFileSync(path.join(projectFolder, 'docs', file), 'utf8')
  const [, section] = /^## A secret has leaked\n([^]*?)\n## /m.exec(text('operating.md'))!
  const secretsIn = (name: RegExp) => [
    ...new Set(
      [...text('configuration.md').matchAll(/^\| `(\w+)` \| .*Secret: /gm)].flatMap(([, key]) =>
        name.test(key!) ? [key!] : [],
      ),
    ),
  ]
  const keys = secretsIn(/_KEY$/)
  expect(keys).toContain('WEBHOOK_KEY')
  const subjects = [...section!.matchAll(/^\| (.+?) \| /gm)].map(([, subject]) => subject).join('\n')
  expect(keys.filter((key) => !subjects.includes(`\`${key}\``))).toEqual([])
  const { services } = readComposeFile()
  for (const key of secretsIn(/_KEY_PREVIOUS$/)) {
    const readers = Object.keys(services).filter((name) => isProgram(name) && key in programs[name].variables.shape)
    const withFile = readers.filter((name) =>
      services[name]!.env_file?.some(({ path: file }) => file === `${name}.env`),
    )
    expect([key, withFile]).toEqual([key, readers])
  }
})

const possible = await canRender()

describe.skipIf(!possible).each(overlays)('overlay %s', async (overlay) => {
  const manifests = possible ? await renderOverlay(overlay) : []
  const workloads = workloadsOf(manifests)
  const name = ({ labels }: Workload) => labels['app.kubernetes.io/name'] ?? ''

  test('each pod can read its own secrets, and no other’s', () => {
    const everywhere = {
      gateway: ['gateway-secrets', 'providers'],
      worker: ['providers', 'worker-secrets'],
      ledger: ['ledger-secrets', 'ledger-secrets/webhook-key-previous'],
      console: [
        'console-secrets',
        'console-secrets/capture-key',
        'console-secrets/capture-key-previous',
        'console-secrets/second-factor-key-previous',
      ],
      migrate: [
        'first-operator/email',
        'first-operator/token',
        'migrate-secrets',
        'migrate-secrets/console-password',
        'migrate-secrets/ledger-password',
      ],
    }
    const bucket = ['assets/access-key-id', 'assets/secret-access-key']
    const more = {
      local: { postgres: ['postgres-secrets'], redis: ['redis-secrets'], seed: ['seed-secrets'], provider: [] },
      production: {
        gateway: [...bucket, ...everywhere.gateway],
        worker: [...bucket, ...everywhere.worker],
        console: [...bucket, ...everywhere.console],
        archive: ['archive-secrets'],
      },
    }[overlay]
    expect(Object.fromEntries(workloads.map((workload) => [name(workload), secretsOf(workload)]))).toEqual({
      ...everywhere,
      ...more,
    })
  })

  test.each(workloads)('$name mounts its secrets read-only, for its own user', ({ pod }) => {
    for (const { name: volume, secret } of pod.volumes ?? []) {
      if (secret === undefined) continue
      expect(secret.defaultMode).toBe(0o400)
      // Secrets belong to root: by fsGroup the kubelet gives the group of the pod's user the right to read them.
      expect(pod.securityContext).toMatchObject({ fsGroup: pod.securityContext!['runAsGroup'] })
      for (const { volumeMounts = [] } of pod.containers)
        expect(volumeMounts.filter((mount) => mount.name === volume)).toEqual([
          { name: volume, mountPath: volume === 'secrets' ? '/run/secrets' : '/run/providers', readOnly: true },
        ])
    }
  })

  test('nothing that runs has a secret as a text', () => {
    for (const { pod } of workloads)
      for (const { env = [] } of pod.containers)
        for (const { name: variable, value } of env)
          if (ofSecret.test(variable) && value !== undefined)
            expect([variable, value]).toEqual([
              expect.stringMatching(/_FILE$/),
              expect.stringMatching(/^\/run\/secrets\/[\w.-]+$/),
            ])
  })

  test.runIf(overlay === 'local')('every file that is read is in the secret that is mounted', () => {
    for (const workload of workloads) {
      const wanted = JSON.stringify(workload.pod.containers).matchAll(/\/run\/secrets\/([\w.-]+)/g)
      const files = new Set([...wanted].map(([, file]) => file))
      const keys = keysOf(manifests, `${name(workload)}-secrets`)
      expect([name(workload), keys.filter((key) => !files.has(key) && !ofEnvironment(workload).includes(key))]).toEqual(
        [name(workload), []],
      )
      expect([...files].filter((file) => !keys.includes(file!))).toEqual([])
    }
  })
})

/** The secrets that a pod can read: whole ones by volume, and single keys by variable, as `secret/key`. */
function secretsOf({ pod }: Workload): string[] {
  const volumes = (pod.volumes ?? []).flatMap(({ secret }) => (secret ? [withoutHash(secret.secretName)] : []))
  const containers = [...pod.containers, ...(pod.initContainers ?? [])]
  const variables = containers.flatMap(({ env = [] }) =>
    env.flatMap(({ valueFrom }) => {
      const { secretKeyRef: key } = valueFrom ?? {}
      return key ? [`${withoutHash(key.name)}/${key.key}`] : []
    }),
  )
  const maps = containers.flatMap(({ envFrom = [] }) =>
    envFrom.flatMap(({ secretRef }) => (secretRef ? [withoutHash(secretRef.name)] : [])),
  )
  return [...volumes, ...variables, ...maps].toSorted()
}

/** The keys of its secret that a pod gets by variables. */
function ofEnvironment(workload: Workload): string[] {
  return secretsOf(workload).flatMap((secret) => secret.split('/')[1] ?? [])
}

function keysOf(manifests: readonly Manifest[], secret: string): string[] {
  const found = manifests.find(({ kind, metadata }) => kind === 'Secret' && withoutHash(metadata.name) === secret)
  return Object.keys((found?.['data'] ?? {}) as object)
}

/** The name without the hash of the contents that kustomize adds to those that it makes. */
function withoutHash(secret: string): string {
  return secret.replace(/-[a-z0-9]{10}$/, '')
}

const hasOpenssl = await run('openssl', ['version']).then(
  () => true,
  () => false,
)

/** A folder that stands in for a cluster, with a kubectl that keeps in it what would be created. */
function openCluster() {
  const folder = mkdtempSync(path.join(tmpdir(), 'production-secrets-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const kept = path.join(folder, 'kept')
  const kubectl = `#!/bin/sh
case $* in
  apply*) cat >"$KEPT-namespace.yaml" ;;
  *' get secret '*) for name; do [ ! -d "$KEPT/$name" ] || echo "secret/$name"; done ;;
  *) for last; do :; done; mkdir -p "$KEPT" && cp -r "\${last#--from-file=}" "$KEPT/" ;;
esac
`
  writeFileSync(path.join(folder, 'kubectl'), kubectl, { mode: 0o700 })
  return {
    kept,
    read: (file: string) => readFileSync(path.join(kept, file), 'utf8'),
    /** Runs the script for production in it. @param env as the operator sets it */
    makeSecrets(env: Record<string, string> = {}) {
      const given = {
        PATH: `${folder}:${process.env['PATH']}`,
        KEPT: kept,
        OWNER_URL: 'postgres://owner:s%2Fcret@db.internal:5432/gateway?sslmode=verify-full',
        REDIS_URL: 'rediss://:of-redis@redis.internal:6379',
      }
      const script = path.join(projectFolder, 'deploy/kubernetes/production-secrets.sh')
      return run('sh', [script], { env: { ...given, ...env } }).then(
        ({ stdout, stderr }) => ({ code: 0, said: stdout + stderr }),
        ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
          code,
          said: stdout + stderr,
        }),
      )
    },
  }
}

test.skipIf(!hasOpenssl)(
  'the script for production makes exactly the files that the pods of the production overlay read',
  async () => {
    const { kept, read, makeSecrets } = openCluster()
    expect(await makeSecrets()).toEqual({ code: 0, said: '' })
    expect(readFileSync(`${kept}-namespace.yaml`, 'utf8')).toBe(
      readFileSync(path.join(projectFolder, 'deploy/kubernetes/base/namespace.yaml'), 'utf8'),
    )

    const made = Object.fromEntries(
      readdirSync(kept).map((name) => [name, readdirSync(path.join(kept, name)).toSorted()]),
    )
    expect(read('ledger-secrets/database-url')).toBe(
      `postgres://svc_ledger_login:${read('migrate-secrets/ledger-password')}@db.internal:5432/gateway?sslmode=verify-full`,
    )
    expect(
      readPublicKeys(read('ledger-secrets/worker-public-keys.pem'))[0]!.equals(
        createPublicKey(read('worker-secrets/private-key.pem')),
      ),
    ).toBe(true)
    if (!possible) return
    for (const workload of workloadsOf(await renderOverlay('production'))) {
      const name = workload.labels['app.kubernetes.io/name']
      const wanted = JSON.stringify(workload.pod.containers).matchAll(/\/run\/secrets\/([\w.-]+)/g)
      const byVariable = ofEnvironment(workload).filter((key) => made[`${name}-secrets`]?.includes(key))
      expect([name, made[`${name}-secrets`]]).toEqual([
        name,
        [...new Set([...[...wanted].map(([, file]) => file!), ...byVariable])].toSorted(),
      ])
    }
  },
)

test.skipIf(!hasOpenssl).for([
  ['pgbouncer.internal:6432', 'pgbouncer.internal:6432/gateway?sslmode=verify-full'],
  ['pgbouncer.internal:6432/pooled', 'pgbouncer.internal:6432/pooled'],
] as const)('services that reach Postgres at %s use %s', async ([DATABASE_ADDRESS, address]) => {
  const { read, makeSecrets } = openCluster()
  await makeSecrets({ DATABASE_ADDRESS })
  for (const service of ['ledger', 'console'])
    expect(read(`${service}-secrets/database-url`)).toBe(
      `postgres://svc_${service}_login:${read(`migrate-secrets/${service}-password`)}@${address}`,
    )
})

test.skipIf(!hasOpenssl)('the script for production makes all secrets, or none if one exists', async () => {
  const { kept, makeSecrets } = openCluster()
  await makeSecrets()
  for (const lost of ['none', 'gateway-secrets', 'migrate-secrets']) {
    rmSync(path.join(kept, lost), { recursive: true, force: true })
    const left = readdirSync(kept)
    const { code, said } = await makeSecrets({ NAMESPACE: 'mine' })
    expect([code, said]).toEqual([1, expect.stringContaining('delete all of them, or none')])
    const [, names] = /^kubectl --namespace mine delete (.+)$/m.exec(said)!
    expect(names!.split(' ').toSorted()).toEqual(left.map((name) => `secret/${name}`).toSorted())
    expect(readdirSync(kept)).toEqual(left)
  }
  rmSync(kept, { recursive: true })
  expect(await makeSecrets()).toEqual({ code: 0, said: '' })
})

test.skipIf(!hasOpenssl)('the script for production takes keys of a folder instead of making them', async () => {
  const { kept, read, makeSecrets } = openCluster()
  await makeSecrets()
  const files = ['ledger-secrets/webhook-key', 'console-secrets/second-factor-key', 'console-secrets/capture-key']
  const before = files.map(read)
  const password = read('migrate-secrets/ledger-password')
  const vault = mkdtempSync(path.join(tmpdir(), 'vault-'))
  onTestFinished(() => rmSync(vault, { recursive: true }))
  for (const file of files) writeFileSync(path.join(vault, path.basename(file)), `${read(file)}\n`)

  rmSync(kept, { recursive: true })
  expect(await makeSecrets({ KEYS: vault })).toEqual({ code: 0, said: '' })
  expect(files.map(read)).toEqual(before)
  expect(read('migrate-secrets/ledger-password')).not.toBe(password)

  // One that was replaced: what it encrypted needs it.
  expect(existsSync(path.join(kept, 'console-secrets/capture-key-previous'))).toBe(false)
  writeFileSync(path.join(vault, 'capture-key-previous'), 'an older key\n')
  rmSync(kept, { recursive: true })
  expect(await makeSecrets({ KEYS: vault })).toEqual({ code: 0, said: '' })
  expect(files.map(read)).toEqual(before)
  expect(read('console-secrets/capture-key-previous')).toBe('an older key')
  expect(existsSync(path.join(kept, 'ledger-secrets/webhook-key-previous'))).toBe(false)

  rmSync(kept, { recursive: true })
  writeFileSync(path.join(vault, 'capture-key'), '')
  expect(await makeSecrets({ KEYS: vault })).toEqual({
    code: expect.any(Number),
    said: expect.stringContaining('capture-key'),
  })
  expect(existsSync(kept)).toBe(false)
})
