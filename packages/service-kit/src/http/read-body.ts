import { isUtf8 } from 'node:buffer'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { jsonLimits } from '@gateway/api/limits'
import { refuse } from '@gateway/api/refusal'

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

interface JsonFacts {
  /** The first of `jsonLimits` that the text exceeds; null if none. */
  exceeded: keyof typeof jsonLimits | null
  /** Whether a number may be beyond double precision. */
  mayOverflow: boolean
  /** Number of fields, those of one name in one object included. */
  fields: number
}

const QUOTE = 0x22
const COMMA = 0x2c
const DOT = 0x2e
const ZERO = 0x30
const NINE = 0x39
const COLON = 0x3a
const UPPER_E = 0x45
const OPEN_LIST = 0x5b
const BACKSLASH = 0x5c
const CLOSE_LIST = 0x5d
const LOWER_E = 0x65
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** Digits of the largest double. */
const MOST_DIGITS = 309

/**
 * Inspects JSON in one pass over its bytes, before it is parsed: parsing and validating take time by the number of
 * fields and values, up to a hundred times as long as for the same bytes of text. Doesn't check that the text is valid.
 * @param named receives each name with the number of its object
 */
export function inspectJson(text: Buffer, named?: (name: string, object: number) => void): JsonFacts {
  let fields = 0
  let values = 1
  let digits = 0
  let mayOverflow = false
  let nameStart = 0
  let nameEnd = 0
  const open: number[] = [] // the objects and lists around this place, by the number of their value
  const exceeds = (exceeded: keyof typeof jsonLimits) => ({ exceeded, mayOverflow, fields })
  for (let at = 0; at < text.length; at++) {
    const byte = text[at]!
    if (byte >= ZERO && byte <= NINE) {
      if (++digits === MOST_DIGITS) mayOverflow = true
      continue
    }
    if ((byte === LOWER_E || byte === UPPER_E) && digits > 0) mayOverflow = true
    if (byte === DOT) continue
    digits = 0
    if (byte === QUOTE) {
      nameStart = ++at
      while (at < text.length && text[at] !== QUOTE) at += text[at] === BACKSLASH ? 2 : 1
      nameEnd = at
    } else if (byte === COMMA) {
      if (++values > jsonLimits.values) return exceeds('values')
    } else if (byte === COLON) {
      if (++fields > jsonLimits.fields) return exceeds('fields')
      named?.(nameOf(text, nameStart, nameEnd), open.at(-1) ?? 0)
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      if (open.push(++values) > jsonLimits.levels) return exceeds('levels')
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      open.pop()
    }
  }
  return { exceeded: null, mayOverflow, fields }
}

/**
 * Returns the first name that an object of the text has twice, or null. A parser keeps the last of two fields of one
 * name, so there is one if and only if the value has fewer fields than the text.
 * @param value what the text was parsed to
 * @param fields of the text, as `inspectJson` counts them
 */
export function duplicateIn(text: Buffer, value: unknown, fields: number): string | null {
  if (fieldsOf(value) === fields) return null
  const seen = new Set<string>()
  let duplicate: string | null = null
  inspectJson(text, (name, object) => {
    const field = `${object} ${name}`
    if (seen.has(field)) duplicate ??= name
    seen.add(field)
  })
  return duplicate
}

function fieldsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const inner = Array.isArray(value) ? value : Object.values(value)
  return inner.reduce<number>((sum, one) => sum + fieldsOf(one), inner === value ? 0 : inner.length)
}

/** Two spellings of a name are one name. */
function nameOf(text: Buffer, start: number, end: number): string {
  const written = text.toString('utf8', start, end)
  if (!written.includes('\\')) return written
  try {
    return JSON.parse(`"${written}"`) as string
  } catch {
    return written // the parser refuses it
  }
}

/**
 * Calls back once when the whole body has arrived or the connection is gone. A request with an early response emits
 * neither `end` nor `close` if its connection closes before its body has arrived.
 */
export function onceArrived(req: IncomingMessage, callback: () => void, socket = req.socket): void {
  function arrived(): void {
    req.off('end', arrived).off('close', arrived)
    socket.off('close', arrived)
    callback()
  }
  req.once('end', arrived).once('close', arrived)
  socket.once('close', arrived)
}
