import { type NodeIncomingMessageLike, toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, type McpHttpHandler, type McpRequestContext, Server } from '@modelcontextprotocol/server'
import { limitFlush } from '@gateway/service-kit/http/answers'
import type { Deps } from '../deps.ts'
import { callTool } from './call-tool.ts'
import { describeTool } from './describe-tool.ts'
import { authOf, type McpRequest, requestOf } from './mcp-request.ts'
import type { IncomingMessage } from 'node:http'
import { flowLimits } from '@gateway/api/limits'
import { parseJson, readBody } from '@gateway/service-kit/http/read-body'

// The official SDK answers, each request with its own server that knows one sandbox product and one caller.
//   K1  A call of the tool is answered as a stream, whose comments keep proxies awake while the execution continues.
//       Anything else is short, and answered as JSON where the revision of the protocol has it so.
//   K2  The headers of a call's answer wait until its execution has begun, so that they can name it (rules §2.2).
//   K3  When this process stops, streams that wait for nothing end at once; calls have as long as those of other paths.

export interface McpTransport {
  answer(request: Omit<McpRequest, 'begun'>, message: Message): Promise<void>
}

type Needed = Parameters<typeof callTool>[0] & Pick<Deps, 'openCalls' | 'stopping' | 'log'>
type Fetch = McpHttpHandler['fetch']

/** How long a client may keep what it was told of the tool: another revision may be activated at any moment. */
const KEEP = { ttlMs: 30_000, cacheScope: 'private' } as const

export function openMcpTransport(deps: Needed): McpTransport {
  const onerror = (error: Error) => deps.log.debug({ err: error }, 'a message was refused by MCP')
  const serverFor = ({ authInfo }: McpRequestContext) => productServer(deps, requestOf(authInfo))
  const calls = createMcpHandler(serverFor, { responseMode: 'sse', onerror }) // K1
  const others = createMcpHandler(serverFor, { onerror })
  deps.stopping.addEventListener('abort', () => void others.close()) // K3

  const fetchCall: Fetch = async (request, options) =>
    delayHeaders(await calls.fetch(request, options), requestOf(options?.authInfo).begun.promise) // K2
  const answerCall = toNodeHandler({ fetch: withoutConnection(fetchCall) }, { onerror })
  const answerOther = toNodeHandler({ fetch: withoutConnection(others.fetch) }, { onerror })

  return {
    async answer(request, message) {
      const { req, res } = request
      const auth = authOf({ ...request, begun: Promise.withResolvers() })
      const asked = Object.assign(req, { auth }) as NodeIncomingMessageLike
      if (callsTool(message.value)) await deps.openCalls.run(() => answerCall(asked, res, message.value))
      else await answerOther(asked, res, message.value)
      limitFlush(res)
    },
  }
}

/**
 * A server for one request. Nothing in it changes by itself, so it offers no notifications of changes, and its schemas
 * are those of the active revision.
 */
function productServer(deps: Needed, request: McpRequest): Server {
  const { id, name, revision } = request.sandbox
  const server = new Server(
    { name: id, title: name, version: String(revision) },
    { capabilities: { tools: {} }, cacheHints: { 'tools/list': KEEP, 'server/discover': KEEP } },
  )
  server.setRequestHandler('tools/list', () => ({ tools: [describeTool(request.sandbox)] }))
  server.setRequestHandler('tools/call', ({ params }, { mcpReq }) => callTool(deps, request, params, mcpReq))
  return server
}

/** Whether a connection is kept is between the caller and this process, which may be about to stop. */
function withoutConnection(fetch: Fetch): Fetch {
  return async (request, options) => {
    const answer = await fetch(request, options)
    answer.headers.delete('connection')
    return answer
  }
}

/**
 * The same answer, held back until `begun` or until there is something of it to be sent, whichever is first: by then
 * its status and headers say all they can.
 */
export async function delayHeaders(answer: Response, begun: Promise<void>): Promise<Response> {
  if (answer.body === null) return answer
  const reader = answer.body.getReader()
  let next: ReturnType<typeof reader.read> | null = reader.read()
  await Promise.race([begun, next])

  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await (next ?? reader.read())
      next = null
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: (reason) => reader.cancel(reason),
  })
  return new Response(body, { status: answer.status, headers: answer.headers })
}

/** What was sent. Whether it is a message of JSON-RPC is for the SDK to say. */
export interface Message {
  value: unknown
}

/**
 * Reads a message. What is not JSON is refused in the shape of every path (rules §2.4), not in that of JSON-RPC.
 * @throws Refusal `invalid_json`, `request_too_large`, `invalid_request` for an encoded body
 * @throws ClientDisconnected
 */
export async function readMessage(req: IncomingMessage): Promise<Message> {
  return { value: parseJson(await readBody(req, flowLimits.bodyBytes)) }
}

/** Whether it is a call of a tool, or a batch with one. */
export function callsTool(value: unknown): boolean {
  return Array.isArray(value) ? value.some(isCall) : isCall(value)
}

function isCall(value: unknown): boolean {
  return typeof value === 'object' && value !== null && (value as { method?: unknown }).method === 'tools/call'
}
