import { toNodeHandler, type NodeIncomingMessageLike } from '@modelcontextprotocol/node'
import { createMcpHandler, Server, type McpHttpHandler, type McpRequestContext } from '@modelcontextprotocol/server'
import { limitFlush } from '@gateway/service-kit/http/send'
import type { Deps } from '../deps.ts'
import { callTool } from './call-tool.ts'
import { describeTool } from './describe-tool.ts'
import { holdHeaders } from './hold-headers.ts'
import { authOf, requestOf, type McpRequest } from './mcp-request.ts'
import { callsTool, type Message } from './read-message.ts'

// The official SDK answers, each request with a server of its own that knows one sandbox product and one caller.
//   K1  A call of the tool is answered as a stream, whose comments keep proxies awake while the execution goes on.
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
    holdHeaders(await calls.fetch(request, options), requestOf(options?.authInfo).begun.promise) // K2
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
