import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { installPacked } from '@gateway/client/packed-project'
import { docBlocksOf, type DocBlock } from './src/guides/doc-blocks.ts'
import { scopesOf } from './src/guides/guide-project.ts'
import { flows } from './src/mcp/flows.ts'
import { registryProgram } from './src/registry-program.ts'
import { runtimes, type Runtime } from './src/runtimes.ts'
import { stackTest } from './src/stack-test.ts'
import type { Stack, TenantFixture } from './src/stack.ts'

// The published client, installed into an empty project: on other runtimes, and as its documentation page shows.

const run = promisify(execFile)

/** A program that prints the output, the charge, the kinds of the progress lines, and a refusal. */
const USES = `
import { ApiRefusal, Gateway } from '@gateway/client'
const [flow] = process.argv.slice(2)
const gateway = new Gateway()
const { output, charged } = await gateway.flow(flow).run({ topic: 'Rain' })
const kinds = []
for await (const { kind } of gateway.flow(flow).follow({ topic: 'Rain' })) kinds.push(kind)
const refused = await gateway.flow('sbx-none').run({}).catch((error) => error)
const isRefusal = refused instanceof ApiRefusal
console.log(JSON.stringify({ text: output.text, charged, first: kinds.at(0), last: kinds.at(-1), isRefusal, code: refused.code }))
`

/* oxlint-disable no-empty-pattern -- vitest reads from the pattern what a fixture needs */
const test = stackTest
  .extend('folder', { scope: 'file' }, async ({}, { onCleanup }) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'client-'))
    onCleanup(() => rm(folder, { recursive: true, force: true }))
    await installPacked(folder)
    await writeFile(path.join(folder, 'uses.js'), USES)
    return folder
  })
  .extend('tenant', async ({ stack }) => stack.tenant(1_000_000n))
  .extend('sandbox', async ({ stack, tenant }) => (await stack.fixture.sandbox(tenant.project, flows.echo())).id)

const environmentOf = ({ gateways }: Stack, { key }: TenantFixture) => ({
  ...process.env,
  GATEWAY_URL: gateways[0]!.url,
  GATEWAY_KEY: key.secret,
})

test.for(runtimes.map((runtime): [string, Runtime] => [runtime.title, runtime]))(
  'the packed client works on %s [sandbox_not_found]',
  async ([, runtime], { stack, tenant, sandbox, folder, skip }) => {
    const file = await registryProgram(runtime)
    if (file === null) return skip('the registry has no such program for this machine')
    const args = [...runtime.args, path.join(folder, 'uses.js'), sandbox]
    const { stdout } = await run(file, args, { cwd: folder, env: environmentOf(stack, tenant) })
    expect(JSON.parse(stdout)).toEqual({
      text: 'Rain (, )',
      charged: { micro: 0, usd: '0' },
      first: 'admitted',
      last: 'complete',
      isRefusal: true,
      code: 'sandbox_not_found',
    })
  },
)

const page = await readFile(path.resolve(import.meta.dirname, '../docs/typescript-client.md'), 'utf8')
const blocks = docBlocksOf(page)

/** Expected output of each block of the page, by title. */
const PRINTS: Record<string, RegExp> = {
  'Execute a flow': /^Rain \(, \) 0 0\n$/,
  'Follow it': /^1 \w+ \w+\n[^]*\nRain \(, \)\n$/,
  'What it would cost': /^At most 0 micro-USD\n$/,
  Refusals: /^sandbox_not_found .+\.\n$/,
  'Assets and the key': /^image\/png \d+ null null\n$/,
  "The console's API": /^key_\w+ CI\n$/,
}

test.for(blocks.map((block): [string, DocBlock] => [block.title, block]))(
  'the example "%s" of docs/typescript-client.md works as written [sandbox_not_found]',
  async ([title, { text }], { stack, tenant, sandbox, folder }) => {
    const program = text
      .replaceAll('sbx-your-flow', sandbox)
      .replaceAll('ten_your_tenant', tenant.project.tenant)
      .replaceAll('prj_your_project', tenant.project.id)
    const { secret } = await stack.fixture.token(tenant.owner, { scopes: scopesOf(page) })
    const env = { ...environmentOf(stack, tenant), GATEWAY_TOKEN: secret }
    const args = ['--input-type=module-typescript', '--eval', program]
    const { stdout } = await run(process.execPath, args, { cwd: folder, env })
    expect(PRINTS).toHaveProperty([title])
    expect(stdout).toMatch(PRINTS[title]!)
  },
)
