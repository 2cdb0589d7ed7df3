import { isUtf8 } from 'node:buffer'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { jsonLimits } from '@gateway/api/limits'
import { refuse } from '@gateway/api/refusal'
import { duplicateIn, inspectJson } from './inspect-json.ts'
import { onceArrived } from './once-arrived.ts'

/**
 * Reads a body of at most `limitBytes`, as it was sent. A larger Content-Length is refused unread, and a body that
 * turns out larger is refused at the first byte too many; the rest stays unread until `answerErrors` drains it.
 *
 * Content-Type is not checked: bodies are JSON, regardless of the type that a client names.
 * @throws Refusal `request_too_large`, `invalid_request` for an encoded body
 * @throws ClientDisconnected
 */
export async function readBody(req: IncomingMessage, limitBytes: number): Promise<Buffer> {
  refuseUnread(req, limitBytes)
  if (req.destroyed) throw new ClientDisconnected() // no event follows
  const tooLarge = () => refuse('request_too_large', { limitBytes })

  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    let bytes = 0

    function take(part: Buffer): void {
      bytes += part.length
      if (bytes > limitBytes) return leave(() => reject(tooLarge()))
      parts.push(part)
    }
    const end = () => leave(() => resolve(parts.length === 1 ? parts[0]! : Buffer.concat(parts)))
    const disconnected = () => leave(() => reject(new ClientDisconnected()))

    function leave(answer: () => void): void {
      req.off('data', take).off('end', end).off('close', disconnected).off('error', disconnected)
      answer()
    }
    req.on('data', take).on('end', end).on('close', disconnected).on('error', disconnected)
  })
}

/**
 * Checks a body before any byte of it is read, for callers that read it as a stream.
 * @throws Refusal `request_too_large`, `invalid_request` for an encoded body
 */
export function refuseUnread({ headers }: Pick<IncomingMessage, 'headers'>, limitBytes: number): void {
  const { 'content-length': declared, 'content-encoding': encoding } = headers
  if (Number(declared) > limitBytes) throw refuse('request_too_large', { limitBytes })
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') throw encoded(encoding)
}

function encoded(encoding: string) {
  return refuse('invalid_request', {
    reason: `The body is encoded as ${encoding.slice(0, 64)}, which is not taken.`,
    resolution: 'Send the body uncompressed, without Content-Encoding.',
  })
}

/**
 * Parses a body as JSON that is within `jsonLimits`. A number beyond double precision would be read as infinity and
 * written as null, and of two fields of one name the parser keeps the last: both are refused.
 * @throws Refusal `invalid_json`, `invalid_request`
 */
export function parseJson(body: Buffer): unknown {
  if (body.length === 0) throw refuse('invalid_json', { reason: 'it is empty' })
  if (!isUtf8(body)) throw refuse('invalid_json', { reason: 'it is not UTF-8' })
  const { exceeded, mayOverflow, fields } = inspectJson(body)
  if (exceeded !== null) throw tooManyOf(exceeded)
  let value: unknown
  try {
    value = JSON.parse(body.toString())
  } catch (error) {
    throw refuse('invalid_json', { reason: reasonOf(error as SyntaxError) })
  }
  const duplicate = duplicateIn(body, value, fields)
  if (duplicate !== null)
    throw refuse('invalid_json', { reason: `it has the field ${JSON.stringify(shortened(duplicate))} twice` })
  if (mayOverflow) refuseInfinite(value)
  return value
}

/**
 * Parses a body as one JSON object; an empty body is `{}`.
 * @throws Refusal `invalid_json`, `invalid_request`
 */
export function parseJsonObject(body: Buffer): Record<string, unknown> {
  if (body.length === 0) return {}
  const value = parseJson(body)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw refuse('invalid_json', { reason: 'it is not an object' })
}

/**
 * The parser's message, without its quotes from the body and without "is not valid JSON", which the refusal already
 * says.
 */
function reasonOf({ message }: SyntaxError): string {
  const words = message.replace(/,? (?:\.\.\.)?"[^]*" is not valid JSON$/, '').replace(/ (?:in JSON|JSON input)\b/, '')
  return words.charAt(0).toLowerCase() + words.slice(1)
}

function shortened(name: string): string {
  return name.length > 64 ? `${name.slice(0, 64)}…` : name
}

function tooManyOf(what: keyof typeof jsonLimits) {
  const { levels, fields, values } = jsonLimits
  if (what === 'levels') return refuse('invalid_json', { reason: `it is nested more than ${levels} levels deep` })
  return refuse('invalid_request', {
    reason: `The body has more than ${jsonLimits[what]} ${what}.`,
    resolution: `Send at most ${fields} fields and ${values} values, for example a long list as one text.`,
  })
}

function refuseInfinite(value: unknown): void {
  if (typeof value === 'number' && !Number.isFinite(value)) throw infinite()
  if (typeof value !== 'object' || value === null) return
  for (const inner of Array.isArray(value) ? value : Object.values(value)) refuseInfinite(inner)
}

function infinite() {
  return refuse('invalid_request', {
    reason: 'The body holds a number beyond double precision (1.8e308).',
    resolution: 'Send a smaller number, or its digits as a string.',
  })
}

const MAX_BYTES = 8 * 1024 * 1024
const MAX_MS = 5_000

/**
 * Drains the rest of a body whose response is sent. Closing a connection while its peer is still sending loses the
 * response, and what is left unread holds up the next request of the connection, even if it has all arrived. A peer
 * that never stops sending is closed nevertheless.
 * @param socket of the request, which Node forgets once the response is sent
 */
export function discardRest(req: IncomingMessage, socket = req.socket): void {
  if (socket.destroyed || (req.complete && req.readableLength === 0)) return
  let bytes = 0
  const close = () => socket.destroy()
  const timer = setTimeout(close, MAX_MS)
  req
    .on('data', (part: Buffer) => {
      bytes += part.length
      if (bytes > MAX_BYTES) close()
    })
    .on('error', () => {})
    .resume()
  onceArrived(req, () => clearTimeout(timer), socket)
}

/** The client disconnected before its request was processed. There is no one to respond to. */
export class ClientDisconnected extends Error {
  constructor() {
    super('the client has disconnected')
  }
}

/** Aborts with `ClientDisconnected` if the client disconnects before it has its response. */
export function disconnectSignal(res: ServerResponse): AbortSignal {
  const disconnected = new AbortController()
  function closed(): void {
    if (!res.writableFinished) disconnected.abort(new ClientDisconnected())
  }
  if (res.closed) closed()
  else res.once('close', closed)
  return disconnected.signal
}
