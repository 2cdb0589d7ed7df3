import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { brotliCompressSync } from 'node:zlib'
import { expect, test as base } from 'vitest'
import { browserBundle, inBrowser } from '@gateway/testbed/browser-bundle'
import { installPacked } from './packed-project.fixture.ts'

// The published package, installed into an empty project.

const run = promisify(execFile)
const MOST_BYTES = 12 * 1024
const tsc = path.resolve(import.meta.dirname, '../../../node_modules/.bin/tsc')

// oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern what a fixture needs
const test = base.extend('project', { scope: 'file' }, async ({}, { onCleanup }) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'client-'))
  onCleanup(() => rm(folder, { recursive: true, force: true }))
  return { folder, installed: await installPacked(folder) }
})

/** The compiler's output for a program, with its standard libraries and no types of Node. */
async function compiled(folder: string, program: string): Promise<string> {
  await writeFile(path.join(folder, 'program.ts'), program)
  const options = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--noEmit']
  const kind = ['--module', 'nodenext', '--target', 'es2022', '--lib', 'es2022,dom,dom.asynciterable', '--types', '']
  const { stdout } = await run(tsc, [...options, ...kind, 'program.ts'], { cwd: folder }).catch(
    (error: { stdout: string }) => error,
  )
  return stdout
}

const program = `
import { ApiRefusal, ExecutionFailed, Gateway, type Asset, type RefusalCode } from '@gateway/client'
import { openConsole } from '@gateway/client/console'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const is = <T extends true>(_?: T) => {}

const gateway = new Gateway({ baseURL: 'https://gateway.example', apiKey: 'svc_1' })
const flow = gateway.flow<{ topic: string; photo?: Asset }, { text: string }>('sbx-1')
const { output, charged, status } = await flow.run({ topic: 'Rain' }, { maxMicro: 500, signal: AbortSignal.timeout(9) })
is<Same<typeof output, { text: string }>>()
is<Same<typeof status, 'Succeeded'>>()
is<Same<typeof charged.usd, string>>()
for await (const line of flow.follow({ topic: 'Rain' })) {
  if (line.kind === 'complete') is<Same<typeof line.execution.chargedMicro, number>>()
  if (line.kind === 'node') is<Same<typeof line.node.status, 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Skipped'>>()
}
const error: unknown = null
if (error instanceof ApiRefusal || error instanceof ExecutionFailed) {
  is<Same<typeof error.code, RefusalCode>>()
  is<Same<Extract<'key_limit' | 'no_such_code', RefusalCode>, 'key_limit'>>()
}
is<Same<Awaited<ReturnType<typeof gateway.key>>['spentMicro'], number | null>>()
const api = openConsole({ token: 'svu_1' })
const params = { tenant: 'ten_1' }
for await (const { data } of api.pages('/api/v2/tenants/{tenant}/keys', { params, query: { limit: 5 } }))
  for (const key of data) is<Same<typeof key.id, string>>()
is<Same<Awaited<ReturnType<typeof signedOut>>, undefined>>()
function signedOut() {
  return api.ask('DELETE', '/api/v2/session')
}
`

test('the package compiles in a strict project without other dependencies', async ({ project }) => {
  expect(await compiled(project.folder, program)).toBe('')
})

test('the types of the package reject wrong inputs and fields', async ({ project }) => {
  const wrong = [
    'await flow.run({})',
    'await gateway.check({ model: 5 })',
    "await api.ask('GET', '/api/v2/you')",
    "await api.ask('POST', '/v1/sandbox/{id}/invoke', { params: { id: 'sbx-1' }, body: { input: {} } })",
    "await gateway.assets.upload(new Blob(), { contentType: 'text/plain' })",
  ]
  const refused = await compiled(project.folder, `${program}\n// @ts-ignore\n${wrong.join('\n// and\n')}\n`)
  expect(refused.match(/error TS/g)).toHaveLength(wrong.length - 1)
})

test('the package has no dependency, no zod and no workspace reference', async ({ project: { installed } }) => {
  const manifest = JSON.parse(await readFile(path.join(installed, 'package.json'), 'utf8')) as object
  expect(Object.keys(manifest).filter((name) => /dependencies/i.test(name))).toEqual([])
  const files = await readdir(installed, { recursive: true })
  const texts = await Promise.all(
    files.filter((name) => /\.(js|d\.ts)$/.test(name)).map((name) => readFile(path.join(installed, name), 'utf8')),
  )
  expect(texts.length).toBeGreaterThan(10)
  const named = texts.flatMap((text) =>
    [...text.matchAll(/(?:from|import)[ (]+["']([^"']+)["']/g)].map(([, name]) => name),
  )
  expect(named.filter((name) => !/^\.{1,2}\/[\w/-]+\.js$/.test(name!))).toEqual([])
  expect(texts.filter((text) => /\bzod\b|["']node:/.test(text))).toEqual([])
  expect(files.filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))).toEqual([])
})

test(`the package runs in a browser in at most ${MOST_BYTES} compressed bytes`, async ({ project: { installed } }) => {
  for (const entry of ['gateway', 'console']) {
    const { script } = await browserBundle(path.join(installed, `${entry}.js`), { minify: true })
    expect(brotliCompressSync(script).length).toBeLessThan(MOST_BYTES)
    expect(inBrowser(script)).toMatchObject({ ApiRefusal: expect.any(Function) as unknown })
  }
})
