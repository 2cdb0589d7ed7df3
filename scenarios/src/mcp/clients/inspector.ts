import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { bridgeOf } from './bridge.ts'
import type { Block, McpClient, Endpoint, ToolResult, ListedTool } from './mcp-client.ts'

/** The official inspector's command line, over HTTP. */
export function inspector(era: 'legacy' | 'modern'): McpClient {
  return client(`inspector --cli, ${era}`, ({ url, key }, idempotencyKey) => ({
    args: [
      '--server-url',
      url.href,
      '--transport',
      'http',
      '--protocol-era',
      era,
      '--stored-auth-only',
      ...(key === null ? [] : ['--header', `Authorization: Bearer ${key}`]),
      ...(idempotencyKey === null ? [] : ['--header', `Idempotency-Key: ${idempotencyKey}`]),
    ],
    env: {},
  }))
}

/** The same through the bridge, over stdio. */
export const inspectorOverBridge: McpClient = client('inspector --cli, over the bridge', (endpoint) => {
  const { command, args, env } = bridgeOf(endpoint)
  const settings = Object.entries(env).flatMap(([name, value]) =>
    name.startsWith('MCP_') ? ['-e', `${name}=${value}`] : [],
  )
  return { args: [command, ...args, ...settings, '--transport', 'stdio'], env }
})

interface Way {
  args: string[]
  env: Record<string, string>
}

function client(name: string, wayTo: (endpoint: Endpoint, idempotencyKey: string | null) => Way): McpClient {
  return {
    name,
    async list(endpoint) {
      const { tools } = (await inspect(wayTo(endpoint, null), ['--method', 'tools/list'])) as { tools: ListedTool[] }
      return tools
    },
    async call(endpoint, input, { idempotencyKey }): Promise<ToolResult> {
      const call = [
        '--method',
        'tools/call',
        '--tool-name',
        'invoke_product',
        '--tool-args-json',
        JSON.stringify(input),
      ]
      const result = (await inspect(wayTo(endpoint, idempotencyKey), call)) as {
        isError?: boolean
        content: Block[]
        structuredContent?: Record<string, unknown>
      }
      return { isError: result.isError === true, content: result.content, structured: result.structuredContent }
    },
  }
}

const program = createRequire(import.meta.url).resolve(
  '@modelcontextprotocol/inspector/clients/launcher/build/index.js',
)

/** Runs the inspector. It exits with 0, or with 5 for a tool error; any other code is a failure explained by its output. */
async function inspect({ args, env }: Way, more: string[]): Promise<unknown> {
  const home = await mkdtemp(path.join(tmpdir(), 'mcp-inspector-'))
  try {
    return await new Promise((resolve, reject) => {
      execFile(
        process.execPath,
        [program, '--cli', ...args, ...more, '--format', 'json'],
        { env: { PATH: process.env['PATH'], ...env, HOME: home }, maxBuffer: 64 * 1024 * 1024 },
        (error, stdout, stderr) => {
          if (error !== null && error.code !== 5) reject(new Error(`exit ${error.code}: ${stdout} ${stderr}`))
          else resolve(resultIn(stdout))
        },
      )
    })
  } finally {
    await rm(home, { recursive: true, force: true })
  }
}

function resultIn(stdout: string): unknown {
  const printed = JSON.parse(stdout) as { result?: unknown }
  return printed.result ?? printed
}
