import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { AddressInfo } from 'node:net'

export interface HeaderProxy {
  url: URL
  close(): Promise<void>
}

/** A sandbox product call that replaces a tool of another name. */
export interface StandIn {
  at: URL
  arguments: object
}

/**
 * Proxy in front of MCP server replicas for a client that cannot send headers. Adds Authorization to each request and a new
 * Idempotency-Key to each tool call. Everything else passes unchanged, including Host and Origin. Requests rotate over the replicas.
 * @param standIns replacement calls, by the tool name that the client calls
 */
export async function openHeaderProxy(
  targets: URL[],
  authorization: string,
  standIns: Record<string, StandIn> = {},
): Promise<HeaderProxy> {
  const server = createServer((req, res) => void pass(req, res))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  let turn = 0

  async function pass(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const asked = await text(req)
    const headers: Record<string, string | string[] | undefined> = { ...req.headers, authorization }
    delete headers['transfer-encoding']
    const call = callIn(asked)
    const standIn = call === null ? undefined : standIns[call.params.name]
    if (call !== null) headers['idempotency-key'] = randomUUID()
    if (standIn && headers['mcp-name'] !== undefined) headers['mcp-name'] = 'invoke_product'
    const body = call !== null && standIn ? JSON.stringify(inPlaceOf(call, standIn)) : asked
    headers['content-length'] = String(Buffer.byteLength(body))
    const onward = request(standIn?.at ?? targets[turn++ % targets.length]!, { method: req.method, headers })
    onward.on('response', (answer) => {
      res.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(res)
    })
    onward.on('error', () => res.destroy())
    res.on('close', () => onward.destroy())
    onward.end(body)
  }

  return {
    url: new URL(targets[0]!.pathname, `http://127.0.0.1:${port}`),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

interface Call {
  method: 'tools/call'
  params: { name: string }
}

function callIn(text: string): Call | null {
  try {
    const message = JSON.parse(text) as Partial<Call>
    return message.method === 'tools/call' ? (message as Call) : null
  } catch {
    return null
  }
}

function inPlaceOf(call: Call, standIn: StandIn): Call {
  return { ...call, params: { ...call.params, name: 'invoke_product', arguments: standIn.arguments } as Call['params'] }
}
