import type { McpTenant } from './mcp-tenant.ts'

export interface Said {
  status: number
  headers: Headers
  text: string
  /** JSON-RPC messages of the response, in order. */
  messages: RpcMessage[]
}

export interface RpcMessage {
  id?: unknown
  method?: string
  params?: Record<string, unknown>
  // oxlint-disable-next-line typescript/no-explicit-any -- a response, as a client sees it
  result?: any
  error?: { code: number; message: string }
}

interface Options {
  method?: string
  headers?: Record<string, string>
  gateway?: number
}

/** Posts a raw message to a sandbox product, in the 2025 era. */
export async function say(tenant: McpTenant, sandbox: string, message: unknown, options: Options = {}): Promise<Said> {
  const { method = 'POST', headers = {}, gateway = 0 } = options
  const answer = await fetch(tenant.at(sandbox, gateway), {
    method,
    headers: {
      authorization: tenant.authorization,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    ...(method === 'POST' && { body: typeof message === 'string' ? message : JSON.stringify(message) }),
  })
  const text = await answer.text()
  return { status: answer.status, headers: answer.headers, text, messages: messagesIn(answer, text) }
}

export const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }

export function callOf(input: object, meta?: object, id = 1): object {
  const params = { name: 'invoke_product', arguments: input, ...(meta && { _meta: meta }) }
  return { jsonrpc: '2.0', id, method: 'tools/call', params }
}

function messagesIn({ headers }: Response, text: string): RpcMessage[] {
  if (text === '') return []
  if (headers.get('content-type')?.startsWith('text/event-stream') !== true) return [JSON.parse(text) as RpcMessage]
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice('data: '.length)) as RpcMessage)
}
