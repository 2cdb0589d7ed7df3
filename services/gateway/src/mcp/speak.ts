import type { IncomingMessage, ServerResponse } from 'node:http'
import { toNodeHandler, type NodeIncomingMessageLike } from '@modelcontextprotocol/node'
import { createMcpHandler, type McpHttpHandler, type McpRequestContext } from '@modelcontextprotocol/server'
import { limitLastWords } from '../answer/last-words.ts'
import type { OpenCalls } from '../call/open-calls.ts'
import type { CallProduct } from './call-product.ts'
import { onceBegun } from './once-begun.ts'
import { productServer } from './product-server.ts'
import { callsTool, sendUnreadable, type Message } from './read-message.ts'
import { authOf, visitOf, type Visit } from './visit.ts'

// The official SDK speaks, each request with a server of its own that knows one sandbox product and one caller.
//   K1  A call of the tool is answered as a stream, whose comments keep proxies awake while the run goes on. Anything else is
//       short, and answered as JSON where the revision of the protocol has it so.
//   K2  The headers of a call's answer wait until its run has begun, so that they can name it (decisions.md, 1).
//   K3  When this process stops, streams that wait for nothing end at once; calls have as long as those of other roads.

export type Speak = (
  req: IncomingMessage,
  res: ServerResponse,
  who: Pick<Visit, 'caller' | 'sandbox' | 'place' | 'gone'>,
  message: Message,
) => Promise<void>

interface Deps {
  calls: Pick<OpenCalls, 'run'>
  callProduct: CallProduct
  stopping: AbortSignal
  /** Told what the SDK refuses or fails at, which it has answered by itself. */
  onTrouble: (error: Error) => void
}

export function mcpSpeaker({ calls, callProduct, stopping, onTrouble: onerror }: Deps): Speak {
  const serverFor = ({ authInfo }: McpRequestContext) => productServer(visitOf(authInfo), callProduct)
  const ofCalls = createMcpHandler(serverFor, { responseMode: 'sse', onerror }) // K1
  const ofTheRest = createMcpHandler(serverFor, { onerror })
  stopping.addEventListener('abort', () => void ofTheRest.close()) // K3

  const fetchCall: Fetch = async (request, options) =>
    onceBegun(await ofCalls.fetch(request, options), visitOf(options?.authInfo).begun.promise) // K2
  const answerCall = toNodeHandler({ fetch: leavingConnections(fetchCall) }, { onerror })
  const answerTheRest = toNodeHandler({ fetch: leavingConnections(ofTheRest.fetch) }, { onerror })

  return async (req, res, who, message) => {
    if ('unreadable' in message) return sendUnreadable(res, message.unreadable)
    const auth = authOf({ ...who, req, res, begun: Promise.withResolvers() })
    const asked = Object.assign(req, { auth }) as NodeIncomingMessageLike
    if (callsTool(message.value)) await calls.run(() => answerCall(asked, res, message.value))
    else await answerTheRest(asked, res, message.value)
    limitLastWords(res)
  }
}

type Fetch = McpHttpHandler['fetch']

/** Whether a connection is kept is between the caller and this process, which may be about to stop. */
function leavingConnections(fetch: Fetch): Fetch {
  return async (request, options) => {
    const answer = await fetch(request, options)
    answer.headers.delete('connection')
    return answer
  }
}
