import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport, getDefaultEnvironment } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, expect } from 'vitest'
import { readDocBlocks, type DocBlock } from './src/guides/doc-blocks.ts'
import { isThere } from './src/guides/is-there.ts'
import { flows } from './src/mcp/flows.ts'
import { mcpTest as test } from './src/mcp/mcp-test.ts'
import { packCommandLine } from './src/mcp/pack-command-line.ts'
import type { McpTenant } from './src/mcp/mcp-tenant.ts'

// Every block of docs/mcp.md, run unchanged except for the URL, the flow, the key and the folder of the archive.

const workspace = path.resolve(import.meta.dirname, '..')
const blocks = await readDocBlocks(path.join(workspace, 'docs/mcp.md'))
const run = promisify(execFile)

/** Expected output of a call with the topic Rain. */
const ANSWER = 'Rain (, )'

/** The folder of the packed command line. */
const archives = await mkdtemp(path.join(tmpdir(), 'gateway-packed-'))
beforeAll(() => packCommandLine(archives))
afterAll(() => rm(archives, { recursive: true }))

function filledIn({ text }: DocBlock, tenant: McpTenant, otherFlow = ''): string {
  const inspector = createRequire(import.meta.url).resolve(
    '@modelcontextprotocol/inspector/clients/launcher/build/index.js',
  )
  return text
    .replaceAll('https://gateway.example/', tenant.at('').origin + '/')
    .replaceAll('sbx-your-flow', tenant.sandboxes.echo)
    .replaceAll('sbx-other-flow', otherFlow)
    .replaceAll('svc_your_key', tenant.key.secret)
    .replaceAll('${input:gateway-key}', tenant.key.secret)
    .replaceAll('/path/to', archives)
    .replaceAll('npx @modelcontextprotocol/inspector', `${process.execPath} ${inspector}`)
}

interface Server {
  command: string
  args: string[]
  env: Record<string, string>
}

/** Text that a client with this configuration receives from a call. */
async function answerOfConfigured({ command, args, env }: Server): Promise<string> {
  const client = new Client({ name: 'scenario', version: '1' })
  const transport = new StdioClientTransport({
    command,
    args,
    env: { ...getDefaultEnvironment(), npm_config_cache: path.join(archives, 'cache'), ...env },
    stderr: 'pipe',
  })
  await client.connect(transport)
  const { structuredContent } = await client.callTool({ name: 'invoke_product', arguments: { topic: 'Rain' } })
  await client.close()
  return (structuredContent as { text: string }).text
}

/** The server that `claude mcp add <name> --env A=b … -- command …` configures, and likewise `codex`. */
function serverOfLine(line: string): Server {
  const words = line.trim().split(/\s+/)
  expect(words.slice(1, 3)).toEqual(['mcp', 'add'])
  const end = words.indexOf('--')
  const [command, ...args] = words.slice(end + 1)
  const variables = words.slice(0, end).flatMap((word, at) => (words[at - 1] === '--env' ? [word] : []))
  return {
    command: command!,
    args,
    env: Object.fromEntries(variables.map((pair) => pair.split(/=(.*)/s).slice(0, 2))) as Record<string, string>,
  }
}

const DOES: Record<string, (text: string) => Promise<string>> = {
  json(text) {
    const config = JSON.parse(text) as { mcpServers?: Record<string, Server>; servers?: Record<string, Server> }
    return answerOfConfigured((config.mcpServers ?? config.servers)!['your-flow']!)
  },
  async sh(text) {
    if (/^(claude|codex) /.test(text)) return answerOfConfigured(serverOfLine(text))
    return (await run('bash', ['-ec', text])).stdout
  },
  async ts(text) {
    return (
      await run(process.execPath, ['--input-type=module-typescript', '--eval', text], { cwd: import.meta.dirname })
    ).stdout
  },
}

const SEVERAL = 'Several flows in one agent'
const ofOne = blocks.filter(({ title }) => title !== SEVERAL)
const ofSeveral = blocks.filter(({ title }) => title === SEVERAL)

test.for(ofOne.map((block): [string, DocBlock] => [block.title, block]))(
  'the %s block of docs/mcp.md works as written',
  async ([, block], { tenant, skip }) => {
    if (block.text.startsWith('curl ') && !(await isThere('curl'))) skip('curl is not installed')
    expect(await DOES[block.language]!(filledIn(block, tenant))).toContain(ANSWER)
  },
)

test.for(ofSeveral.map((block, n): [number, DocBlock] => [n + 1, block]))(
  'block %i on several flows in one agent of docs/mcp.md gives each flow a tool with a distinct name',
  async ([, block], { tenant }) => {
    const other = await tenant.make(flows.echo(), { name: 'Other', description: 'Says it again.' })
    const lines = (await DOES['ts']!(filledIn(block, tenant, other))).trim().split('\n')
    expect(lines).toEqual([
      expect.stringMatching(/^\w*poster\w* Says what it receives\.$/),
      expect.stringMatching(/^\w*summary\w* Says it again\.$/),
    ])
  },
)

test('docs/mcp.md has one block for each supported client', () => {
  expect(ofSeveral).toHaveLength(2)
  expect(ofOne.map(({ title }) => title)).toEqual([
    'Claude Desktop',
    'Claude Code',
    'Codex',
    'Cursor',
    'VS Code',
    'MCP Inspector',
    'TypeScript',
    'Vercel AI SDK',
    'OpenAI Agents SDK',
    'LangChain',
    'Mastra',
    'curl',
  ])
})
