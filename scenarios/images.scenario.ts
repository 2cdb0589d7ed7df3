import { execFile } from 'node:child_process'
import { readdir, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { images, writeImage, type BundledPackage, type ImageName } from '@gateway/bundler/images'
import { withDatabase, withLogin } from '@gateway/database/client'
import { liveTest } from '@gateway/testbed/live-test'
import { startProgram } from '@gateway/testbed/test-program'
import { temporaryFolder } from '@gateway/testbed/test-servers'
import { runUntilOver } from './src/executions.ts'
import { paidFlow } from './src/paid-flows.ts'
import { chat, openStack } from './src/stack.ts'

// What deploy/Dockerfile copies into the images, without an engine: how large it is, and that everything runs from it.

const MOST_BYTES = 130_000_000
const names = Object.keys(images) as ImageName[]
const run = promisify(execFile)

// oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern what a fixture needs
const test = liveTest.extend('written', { scope: 'file' }, async ({}, { onCleanup }) => {
  const folder = await temporaryFolder('images')
  onCleanup(() => rm(folder, { recursive: true, force: true }))
  const packages = new Map<ImageName, BundledPackage[]>()
  for (const name of names) packages.set(name, await writeImage(name, path.join(folder, name)))
  return { folder, packages }
})

const bytesIn = async (folder: string) => {
  const files = await readdir(folder, { recursive: true, withFileTypes: true })
  const sizes = files
    .filter((file) => file.isFile())
    .map(async (file) => (await readFile(path.join(file.parentPath, file.name))).byteLength)
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}

// spec: can/deployment
test('each image adds at most 130 MB to its base, and lists the packages in it', async ({ written }) => {
  const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1)
  for (const name of names) {
    const packages = written.packages.get(name)!
    const bytes = await bytesIn(path.join(written.folder, name))
    const largest = packages.slice(0, 5).map((each) => `${each.name} ${megabytes(each.bytes)}`)
    console.info(`${name}: ${megabytes(bytes)} MB; ${largest.join(', ')}`)
    expect(bytes).toBeLessThan(MOST_BYTES)

    const bill = JSON.parse(await readFile(path.join(written.folder, name, 'bom.cdx.json'), 'utf8')) as {
      components: { purl: string }[]
    }
    expect(bill.components.map(({ purl }) => purl)).toEqual(
      packages.map((each) => `pkg:npm/${each.name.replace('@', '%40')}@${each.version}`),
    )
    // Each thread's program is in the image of the program that opens it.
    const bin = path.join(written.folder, name, 'bin')
    const inBin = await readdir(bin)
    for (const file of inBin)
      for (const [, thread] of (await readFile(path.join(bin, file), 'utf8')).matchAll(
        /new URL\(["']\.\/([\w-]+\.js)["'], import\.meta\.url\)/g,
      ))
        expect(inBin).toContain(thread)
  }
  expect(await readdir(path.join(written.folder, 'worker', 'bin'))).toContain('free-node-thread-main.js')
})

test('the stack starts and serves from what its images hold', async ({ written, postgresServer, redisServer }) => {
  const program = (name: ImageName, file: string = name) => path.join(written.folder, name, 'bin', file)
  const ended = (file: string, env: Record<string, string> = {}, words: string[] = []) =>
    run(process.execPath, [file, ...words], { env: { PATH: process.env['PATH'], ...env }, cwd: written.folder })

  const { stdout: token } = await ended(program('migrate', 'new-token'))
  const owner = withDatabase(postgresServer.url, 'stack')
  const passwords = { ledger: 'l'.repeat(32), console: 'c'.repeat(32) }
  const migrated = await ended(program('migrate'), {
    DATABASE_URL: owner,
    LEDGER_DATABASE_PASSWORD: passwords.ledger,
    CONSOLE_DATABASE_PASSWORD: passwords.console,
    OPERATOR_EMAIL: 'first@example.test',
    OPERATOR_TOKEN: token.trim(),
  })
  expect(migrated.stdout).toContain('Added first@example.test as platform operator.')

  const login = (service: 'ledger' | 'console') => withLogin(owner, `svc_${service}_login`, passwords[service])
  const stack = await openStack({
    adminUrl: owner,
    ledgerUrl: login('ledger'),
    consoleUrl: login('console'),
    redisUrl: redisServer.url,
    workers: 1,
    entries: {
      gateway: program('gateway'),
      worker: program('worker'),
      ledger: program('ledger'),
      console: program('console'),
    },
  })
  const provider = await startProgram({ name: 'provider', entry: program('provider'), folder: stack.folder, env: {} })
  try {
    const tenant = await stack.tenant(5_000_000n)
    // So long that a thread counts its tokens.
    const messages = [{ role: 'user', content: 'How many words are these? '.repeat(500) }]
    expect((await chat(stack, tenant, { body: { messages } })).status).toBe(200)
    const { id: sandbox } = await stack.fixture.sandbox(tenant.project, paidFlow(tenant.model, 2))
    const call = { sandbox, secret: tenant.key.secret, input: { text: 'even' }, idempotencyKey: 'from-images' }
    expect(await runUntilOver(stack, call)).toMatchObject({ status: 'Succeeded' })

    const { url } = stack.gateways[0]!
    const pages = ['/console', '/docs', '/docs/money', '/docs/api', '/docs/swagger-ui-bundle.js', '/docs/docs.css']
    for (const page of [...pages, '/docs/pictures/flow.png'])
      expect([page, (await fetch(url + page)).status]).toEqual([page, 200])
    const [, script] = /src="([^"]+\.js)"/.exec(await (await fetch(`${url}/console`)).text()) ?? []
    expect((await fetch(new URL(script!, url))).status).toBe(200)

    const seeded = await ended(program('migrate', 'seed'), {
      DATABASE_URL: owner,
      LEDGER_URL: stack.ledgers[0]!.url,
      CONSOLE_URL: stack.console!.url,
      SERVICE_PRIVATE_KEY: stack.secrets.console,
      SEEDED_FILE: path.join(stack.folder, 'seeded.json'),
    })
    expect(seeded.stdout).toContain('key')

    await stack.untilNothingIsReserved(tenant.project.id, 30_000)
    const books = await ended(program('ledger', 'ledger-command'), { DATABASE_URL: login('ledger') }, ['check'])
    expect(books.stdout).toContain('0 findings')
    const audit = await ended(program('console', 'console-command'), { DATABASE_URL: login('console') }, ['check'])
    expect(audit.stdout).toMatch(/\b0 findings/)
  } finally {
    await provider.stop()
    await stack.close()
  }
})
