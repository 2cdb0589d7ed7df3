import { EventSourceParserStream } from 'eventsource-parser/stream'
import { BRIDGE_FAILED, failure, isAnswerTo, isRequest, type Id, type Message } from './messages.ts'

interface Way {
  url: URL
  fetch: typeof globalThis.fetch
  headers: Record<string, string>
  signal?: AbortSignal
}

/**
 * `again`: there was no response, or one that announces a later one; `lastWord` is what to send when the time is up.
 */
export type AskedOnce =
  | { kind: 'answered'; message: Message }
  | { kind: 'again'; why: string; afterMs: number | null; lastWord: Message }

/** Statuses sent before the call was accepted, or while it continues. */
const AGAIN_STATUSES = new Set([408, 425, 429, 500, 502, 503, 504])
const AGAIN_CODES = new Set(['idempotency_in_progress', 'overloaded', 'unavailable', 'rate_limited'])

/** Sends a message, and emits everything that precedes its response. */
export async function askOnce(way: Way, message: Message, emit: (message: Message) => void): Promise<AskedOnce> {
  const id = message.id ?? null
  try {
    const response = await way.fetch(way.url, {
      method: 'POST',
      headers: way.headers,
      body: JSON.stringify(message),
      redirect: 'error', // the key is for this address only
      ...(way.signal && { signal: way.signal }),
    })
    if (!isRequest(message) && response.ok) {
      await response.body?.cancel()
      return { kind: 'answered', message: failure(null, BRIDGE_FAILED, 'A notification has no response.') }
    }
    return await readAnswer(response, id, emit)
  } catch (error) {
    return again(id, whyOf(error), null)
  }
}

async function readAnswer(response: Response, id: Id, emit: (message: Message) => void): Promise<AskedOnce> {
  if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true)
    return answerOfJson(response, id, await response.text())
  for await (const message of messagesOf(response))
    if (isAnswerTo(message, id))
      return goesOn(message) ? again(id, 'the execution continues', null, message) : answered(message, id)
    else emit(message)
  return again(id, 'the response was truncated', null)
}

async function* messagesOf({ body }: Response): AsyncGenerator<Message> {
  const events = body!
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array<ArrayBuffer>>)
    .pipeThrough(new EventSourceParserStream())
  for await (const { data } of events) if (data !== '') yield JSON.parse(data) as Message
}

function answerOfJson(response: Response, id: Id, text: string): AskedOnce {
  const said = readJson(text)
  const afterMs = retryAfterMs(response)
  if (said !== null && 'jsonrpc' in said) {
    const message = said as unknown as Message
    return AGAIN_STATUSES.has(response.status) || goesOn(message)
      ? again(id, `status ${response.status}`, afterMs, { ...message, id })
      : answered(message, id)
  }
  const refusal = refusalOf(id, response.status, said)
  if (AGAIN_STATUSES.has(response.status)) return again(id, `status ${response.status}`, afterMs, refusal)
  return { kind: 'answered', message: refusal }
}

const answered = (message: Message, id: Id): AskedOnce => ({ kind: 'answered', message: { ...message, id } })

function again(id: Id, why: string, afterMs: number | null, lastWord?: Message): AskedOnce {
  const text = `The service did not respond: ${why}. A call that has started continues and is charged once.`
  return { kind: 'again', why, afterMs, lastWord: lastWord ?? failure(id, BRIDGE_FAILED, text) }
}

/** A refusal that the service sends before it speaks MCP: its code, message and resolution. */
function refusalOf(id: Id, status: number, said: Record<string, unknown> | null): Message {
  const error = said?.['error'] as { code?: unknown; message?: unknown; resolution?: unknown } | undefined
  if (typeof error?.code !== 'string') return failure(id, BRIDGE_FAILED, `The service responded with status ${status}.`)
  return failure(id, BRIDGE_FAILED, `${error.code}: ${String(error.message)} ${String(error.resolution)}`, {
    status,
    ...error,
  })
}

/**
 * Whether a result says that the execution is still running, or has not started: the same call, sent again, will get a
 * result. One that names an execution is final, regardless of its error: its key is used up.
 */
function goesOn({ result }: Message): boolean {
  if (result?.isError !== true || !Array.isArray(result.content)) return false
  const [first] = result.content as { text?: unknown }[]
  const said = readJson(String(first?.text))
  if (said !== null && 'execution' in said) return false
  const error = said?.['error'] as { code?: unknown } | undefined
  return AGAIN_CODES.has(String(error?.code))
}

function retryAfterMs({ headers }: Response): number | null {
  const seconds = Number(headers.get('retry-after') ?? NaN)
  return Number.isFinite(seconds) ? seconds * 1_000 : null
}

function readJson(text: string): Record<string, unknown> | null {
  try {
    const value = JSON.parse(text) as unknown
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}

function whyOf(error: unknown): string {
  const { message, cause } = error as Error & { cause?: { code?: string; message?: string } }
  return cause?.code ?? cause?.message ?? message
}
