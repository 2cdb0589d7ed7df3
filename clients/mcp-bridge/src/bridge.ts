import { BRIDGE_FAILED, failure, isRequest, readMessages, type Id, type Message, type Request } from './messages.ts'
import { askOnce, type AskedOnce } from './ask-once.ts'

// Connects a client on stdin and stdout to a sandbox product over HTTP.
//   B1  Each message is a separate request, and its responses are forwarded unchanged as they arrive.
//   B2  Each tool call gets one Idempotency-Key, and keeps it across retries: it runs and is charged once.
//   B3  A message without a response is retried while there is time. Progress already forwarded is not repeated.
//   B4  A cancelled call gets no response. The execution continues, as for any caller that disconnects.

export interface BridgeDeps {
  url: URL
  key: string
  /** Milliseconds. */
  retryMs: number
  send: (message: Message) => void
  /** Prints text for a user. */
  say: (text: string) => void
  fetch: typeof globalThis.fetch
  newKey: () => string
  /** Monotonic milliseconds. */
  now: () => number
  wait: (ms: number, signal: AbortSignal) => Promise<void>
}

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 5_000
/** Listings are free of side effects and cost. */
const LISTING_RETRY_MS = 30_000

export function openBridge(deps: BridgeDeps): { take(line: string): void } {
  const { url, key, retryMs, send, say, fetch, newKey, now, wait } = deps
  const underWay = new Map<Id, AbortController>()
  let agreedVersion: string | null = null

  function take(line: string): void {
    const messages = readMessages(line)
    if (messages === null) send(failure(null, -32_700, 'This line is not a JSON-RPC message.'))
    for (const message of messages ?? []) {
      if (message.method === 'notifications/cancelled') cancel(message.params?.requestId as Id)
      else if (isRequest(message)) void answer(message)
      else if (message.method !== undefined) void notify(message)
    }
  }

  function cancel(id: Id): void {
    underWay.get(id)?.abort() // B4
    underWay.delete(id)
  }

  async function notify(message: Message): Promise<void> {
    const asked = await askOnce({ url, fetch, headers: headersOf(message, key, agreedVersion) }, message, () => {})
    if (asked.kind === 'again') say(`A notification was not accepted: ${asked.why}`)
  }

  async function answer(request: Request): Promise<void> {
    const leaving = new AbortController()
    underWay.set(request.id, leaving)
    try {
      const last = await askUntilAnswered(request, leaving.signal)
      if (leaving.signal.aborted) return
      if (request.method === 'initialize' && typeof last.result?.protocolVersion === 'string')
        agreedVersion = last.result.protocolVersion
      send(last)
    } catch (error) {
      if (!leaving.signal.aborted)
        send(failure(request.id, BRIDGE_FAILED, `The bridge failed: ${(error as Error).message}`))
    } finally {
      if (underWay.get(request.id) === leaving) underWay.delete(request.id)
    }
  }

  async function askUntilAnswered(request: Request, signal: AbortSignal): Promise<Message> {
    const headers = headersOf(request, key, agreedVersion)
    const isCall = request.method === 'tools/call'
    if (isCall) headers['idempotency-key'] = newKey() // B2
    const emit = onlyOnwards((message) => !signal.aborted && send(message))
    const untilMs = now() + (isCall ? retryMs : Math.min(retryMs, LISTING_RETRY_MS))
    let pauseMs = FIRST_PAUSE_MS
    for (;;) {
      const asked: AskedOnce = await askOnce({ url, fetch, headers, signal }, request, emit)
      if (asked.kind === 'answered') return asked.message
      const leftMs = untilMs - now()
      if (leftMs <= 0 || signal.aborted) return asked.lastWord
      await wait(Math.min(leftMs, Math.max(pauseMs, asked.afterMs ?? 0)), signal) // B3
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
    }
  }

  return { take }
}

/** Forwards notifications; of progress only steps beyond those already forwarded. */
function onlyOnwards(pass: (message: Message) => void): (message: Message) => void {
  let furthest = -Infinity
  return (message) => {
    if (message.method === 'notifications/progress') {
      const progress = Number(message.params?.progress)
      if (!(progress > furthest)) return
      furthest = progress
    }
    pass(message)
  }
}

const VERSION = 'io.modelcontextprotocol/protocolVersion'

/**
 * Returns the headers of a message. In the stateless revision each message states its revision in `_meta`, and some of
 * it is repeated in headers; in earlier ones a client states the revision once, and it goes with each further message.
 * @param agreedVersion the version negotiated by `initialize`
 */
export function headersOf(message: Message, key: string, agreedVersion: string | null): Record<string, string> {
  const { method, params } = message
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    authorization: `Bearer ${key}`,
  }
  const ownVersion = params?._meta?.[VERSION]
  if (typeof ownVersion === 'string') {
    headers['mcp-protocol-version'] = ownVersion
    if (method !== undefined) headers['mcp-method'] = headerText(method)
    if (method === 'tools/call' && typeof params?.name === 'string') headers['mcp-name'] = headerText(params.name)
  } else if (agreedVersion !== null && method !== 'initialize') headers['mcp-protocol-version'] = agreedVersion
  return headers
}

/** Encodes text as base64 if a header can't contain it, or if it looks like such an encoding. */
function headerText(text: string): string {
  return /^[!-~](?:[ -~]*[!-~])?$/.test(text) && !text.startsWith('=?')
    ? text
    : `=?base64?${Buffer.from(text).toString('base64')}?=`
}
