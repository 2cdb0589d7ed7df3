import { type NodeIncomingMessageLike, toNodeHandler } from '@modelcontextprotocol/node'
import {
  createMcpHandler,
  type McpHttpHandler,
  type McpRequestContext,
  PROTOCOL_VERSION_META_KEY,
  ProtocolErrorCode,
  Server,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  validateHostHeader,
  validateOriginHeader,
} from '@modelcontextprotocol/server'
import { limitFlush } from '@gateway/service-kit/http/answers'
import { type MinimumRate, minimumRate, watchRate } from '@gateway/service-kit/http/connections'
import type { Deps } from '../deps.ts'
import { callTool, authOf, type McpRequest, requestOf } from './call-tool.ts'
import { describeTool } from './describe-tool.ts'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { invalidField } from '@gateway/api/field-problem'
import { flowLimits } from '@gateway/api/limits'
import { Refusal } from '@gateway/api/refusal'
import { parseJson, readBody } from '@gateway/service-kit/http/read-body'

// The official SDK responds, with a separate server per request that knows one sandbox product and one caller.
//   K1  A tool call gets a stream, whose comments keep proxies from timing out while the execution runs. Other messages
//       are short and get JSON if the protocol revision allows it.
//   K2  The response headers of a tool call wait until its execution has started, so that they name it (rules §2.2).
//   K3  When this process stops, requests have as long as those of other paths.
//   K4  A client that reads a message below the minimum rate loses its connection: the response holds a permit and image
//       memory. A client that waits for a message has no time limit.

export interface McpTransport {
  answer(request: Omit<McpRequest, 'begun'>, message: Message): Promise<void>
}

type Needed = Parameters<typeof callTool>[0] & Pick<Deps, 'openCalls' | 'log'>
type Fetch = McpHttpHandler['fetch']

/** How long clients can cache the tool description. Another revision can be activated at any moment. */
const KEEP = { ttlMs: 30_000, cacheScope: 'private' } as const

export function openMcpTransport(deps: Needed, rate: MinimumRate = minimumRate): McpTransport {
  const onerror = (error: Error) => deps.log.debug({ err: error }, 'mcp message refused')
  const serverFor = ({ authInfo }: McpRequestContext) => productServer(deps, requestOf(authInfo))
  const calls = createMcpHandler(serverFor, { responseMode: 'sse', onerror }) // K1
  const others = createMcpHandler(serverFor, { onerror })

  const fetchCall: Fetch = async (request, options) =>
    delayHeaders(await calls.fetch(request, options), requestOf(options?.authInfo).begun.promise) // K2
  const answerCall = toNodeHandler({ fetch: asOurs(fetchCall, rate) }, { onerror })
  const answerOther = toNodeHandler({ fetch: asOurs(others.fetch, rate) }, { onerror })

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
 * Returns a server for one request, with the schemas of the active revision. It never changes, so it offers no change
 * notifications.
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

/**
 * Drops the SDK's `connection` header: this process decides about keep-alive, because it may be about to stop. Adds what
 * clears a refused Accept header, which the SDK leaves out.
 */
function asOurs(fetch: Fetch, rate: MinimumRate): Fetch {
  return async (request, options) => {
    const answer = await fetch(request, options)
    answer.headers.delete('connection')
    if (answer.status !== 406) return limitReading(answer, requestOf(options?.authInfo).res, rate) // K4
    const message = (await answer.json()) as { error: { message: string } }
    const data = { resolution: 'Send the header Accept: application/json, text/event-stream.' }
    const error = { ...message.error, message: `${message.error.message}. ${data.resolution}`, data }
    answer.headers.delete('content-length')
    return new Response(JSON.stringify({ ...message, error }), { status: 406, headers: answer.headers })
  }
}

/**
 * Returns the same response, held back until `begun` or its first bytes, whichever is first. By then its status and
 * headers are complete.
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

/**
 * Returns the same response, whose client must read each message at the minimum rate, or `res` is destroyed. The SDK
 * passes a message on whole, and a socket counts a write when it begins, so messages are cut into pieces.
 */
export function limitReading(answer: Response, res: ServerResponse, rate: MinimumRate): Response {
  if (answer.body === null) return answer
  const reader = answer.body.getReader()
  const passed = () => res.socket?.bytesWritten ?? 0
  let rest = new Uint8Array()
  let stopWatching = () => {}

  const pieces = {
    async pull(controller: ReadableStreamDefaultController<Uint8Array>) {
      if (rest.length === 0) {
        stopWatching()
        const { done, value } = await reader.read()
        if (done) return controller.close()
        rest = value
        stopWatching = watchRate(passed, () => res.destroy(), rate)
      }
      controller.enqueue(rest.subarray(0, PIECE_BYTES))
      rest = rest.subarray(PIECE_BYTES)
    },
    cancel(reason: unknown) {
      stopWatching()
      return reader.cancel(reason)
    },
  }
  // Without a buffer, a pull says that the client has room for more.
  const body = new ReadableStream<Uint8Array>(pieces, { highWaterMark: 0 })
  return new Response(body, { status: answer.status, headers: answer.headers })
}

const PIECE_BYTES = 64 * 1024

/** A parsed body. The SDK checks whether it is a JSON-RPC message. */
export interface Message {
  value: unknown
}

/**
 * Reads a message. Invalid JSON gets an HTTP error of the usual shape (rules §2.4), not a JSON-RPC error.
 * @throws Refusal `invalid_json`, `request_too_large`, `invalid_request` for an encoded body
 * @throws ClientDisconnected
 */
export async function readMessage(req: IncomingMessage): Promise<Message> {
  return { value: parseJson(await readBody(req, flowLimits.bodyBytes)) }
}

/**
 * Returns the refusal of a tool call whose arguments are not an object, with the ID of the call and what its protocol
 * revision adds to a result. The SDK would answer with the issues of its schema. A message without an ID gets no response.
 */
export function findArgumentsError(value: unknown): ArgumentsError | null {
  if (!isCall(value)) return null
  const { id, params } = value as { id?: unknown; params?: { arguments?: unknown; _meta?: unknown } | null }
  if (typeof id !== 'string' && typeof id !== 'number') return null
  const given = params?.arguments
  if (given === undefined || (typeof given === 'object' && given !== null && !Array.isArray(given))) return null
  const meta = params?._meta as Record<string, unknown> | null | undefined
  const isModern = typeof meta?.[PROTOCOL_VERSION_META_KEY] === 'string'
  const refusal = invalidField('arguments', 'is not an object', 'send an object of the inputs by name')
  return { id, refusal, more: isModern ? { resultType: 'complete' } : {} }
}

export interface ArgumentsError {
  id: string | number
  refusal: Refusal
  /** Fields of each result: revision 2026-07-28, which a message states in `_meta`, requires one. */
  more: { resultType?: 'complete' }
}

/**
 * Returns the JSON-RPC error for a batch of several requests, which revisions before 2025-06-18 allow, or null. The permit
 * and the idempotency key of a message are for one request, and each response to `tools/list` holds the whole contract.
 */
export function findBatchError(value: unknown): object | null {
  if (!Array.isArray(value) || value.filter(isRequest).length <= 1) return null
  const data = { resolution: 'Send each request as its own message, each tools/call with its own Idempotency-Key.' }
  const message = `Invalid Request: a message has more than one request. ${data.resolution}`
  return { jsonrpc: '2.0', id: null, error: { code: ProtocolErrorCode.InvalidRequest, message, data } }
}

/** Whether the message gets a response: a notification has no ID. */
function isRequest(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'method' in value && 'id' in value
}

/** Whether the message is a tool call, or a batch with one. */
export function callsTool(value: unknown): boolean {
  return Array.isArray(value) ? value.some(isCall) : isCall(value)
}

function isCall(value: unknown): boolean {
  return typeof value === 'object' && value !== null && (value as { method?: unknown }).method === 'tools/call'
}

// DNS rebinding: a web page's host name can be made to resolve to this machine.
//   O1  A browser sends the page's host in Origin. It must be this machine or one of the operator's hosts.
//   O2  A direct request on loopback must name this machine in Host. A proxy identifies itself by forwarding headers,
//       and its public host name is known only to its operator.

/** @throws Refusal `not_permitted` */
export function refuseRebinding({ mcpHosts }: Pick<Deps, 'mcpHosts'>, { headers, socket }: IncomingMessage): void {
  if (!validateOriginHeader(headers.origin, [...localhostAllowedOrigins(), ...mcpHosts]).ok) throw refusalOf('Origin')
  const direct = isLoopback(socket.localAddress) && !FORWARDED.some((name) => headers[name] !== undefined)
  if (direct && !validateHostHeader(headers.host, [...localhostAllowedHostnames(), ...mcpHosts]).ok)
    throw refusalOf('Host')
}

const FORWARDED = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto']

function isLoopback(address: string | undefined): boolean {
  return address !== undefined && (address === '::1' || /^(::ffff:)?127\./.test(address))
}

function refusalOf(header: string): Refusal {
  return new Refusal(
    'not_permitted',
    `The header ${header} names a host that may not call MCP here.`,
    `Call from a program instead of a page, or ask the operator to add the host to MCP_HOSTS.`,
  )
}
