import { randomBytes, subtle } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { ChatRequest } from '@gateway/api/chat-request'
import { isAttachmentData } from '@gateway/api/attachments'
import { chatLimits } from '@gateway/api/limits'
import { Refusal } from '@gateway/api/refusal'
import type { ChatWire, CutData, OpenAnswer } from '@gateway/api/wires/wire'
import { isBase64 } from '@gateway/api/text-bytes'
import { inTurns } from '@gateway/service-kit/async/waiting'
import { parseJson, readBody } from '@gateway/service-kit/http/read-body'
import { fingerprintOf, readIdempotencyKey, readTag, refuseRepeatedHeaders, selectorOf } from './read-headers.ts'

/** A chat call that has passed every check that needs no state (rules §2.3). */
export interface ChatCall {
  /** SHA-256 of the key's secret, hex. */
  keyHash: string
  /** Project named by the caller, which the ledger compares; null if none is named. */
  selector: string | null
  /** Named by the caller; null: none. */
  tag: string | null
  request: ChatRequest
  wire: ChatWire
  openAnswer: OpenAnswer
  idempotency: { key: string; fingerprint: string } | null
}

/**
 * Reads a chat call of any wire once its key has been read: the headers, then the body (rules §2.7, §3).
 * @throws Refusal 400 or 413
 * @throws ClientDisconnected if the caller disconnects before the body is complete
 */
export async function readChat(wire: ChatWire, req: IncomingMessage, keyHash: string): Promise<ChatCall> {
  refuseRepeatedHeaders(req)
  const idempotencyKey = readIdempotencyKey(req)
  const { value, data } = await parseChatBody(wire, await readWhole(req))
  const { request, openAnswer } = wire.read(value, data)
  return {
    keyHash,
    selector: selectorOf(req, request.projectId),
    tag: readTag(req),
    request,
    wire,
    openAnswer,
    idempotency:
      idempotencyKey === null
        ? null
        : { key: idempotencyKey, fingerprint: fingerprintOf(value as object, await digestsOf(data), wire.name) },
  }
}

/** Memory is reserved by Content-Length, so a body without one is limited to the size of text. */
async function readWhole(req: IncomingMessage): Promise<Buffer> {
  if (req.headers['content-length'] !== undefined) return readBody(req, chatLimits.bodyBytes)
  try {
    return await readBody(req, chatLimits.textBodyBytes)
  } catch (error) {
    throw error instanceof Refusal && error.code === 'request_too_large' ? lengthUntold() : error
  }
}

function lengthUntold(): Refusal {
  const { textBodyBytes, bodyBytes } = chatLimits
  return new Refusal(
    'request_too_large',
    `The request body is larger than ${textBodyBytes} bytes and does not say how long it is.`,
    `Send at most ${textBodyBytes} bytes; or, for images and files, a body that says its length in Content-Length, of at most ${bodyBytes} bytes.`,
  )
}

// A body can be megabytes of base64 images and files plus a few kilobytes of other text. Expensive work (parsing,
// validating, walking, hashing) is done without their data.
//   D1  Data is a `data:` URL of an image or a file or, on a wire that has it as bare base64, the value of a field
//       named `data`. In valid JSON, an unescaped quote before it starts a string. A string that isn't base64 to its
//       end stays in place, and so does a field name.
//   D2  A placeholder that the caller can't guess replaces it: a short image or file as far as the schema is concerned.
//       It stays where a request has its attachments, and the data is put back everywhere else.
//   D3  The rest is limited like any body, and the search ends where that limit is exceeded.
//   D4  Work on the data itself yields to other requests every few milliseconds.

/** What precedes data in a body; with `url`, its first characters as well. */
const STARTS = { url: Buffer.from('"data:'), base64: Buffer.from('"data"') }
const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const BLANKS: readonly number[] = [0x20, 0x09, 0x0a, 0x0d]
/** Shorter data isn't worth extracting. */
const WORTH_BYTES = 4_096
const TURN_BYTES = 1024 * 1024

interface ChatBody {
  value: unknown
  /** Data of the request's attachments, by the placeholder that `value` has in its place. */
  data: CutData
}

const NO_DATA: ChatBody['data'] = new Map()

/**
 * Reads the body of a chat call as JSON.
 * @throws Refusal `invalid_json`, `request_too_large`
 */
export async function parseChatBody(wire: Pick<ChatWire, 'dataForm' | 'dataOf'>, body: Buffer): Promise<ChatBody> {
  if (body.length < WORTH_BYTES || !body.includes(STARTS[wire.dataForm]))
    return { value: parseJson(boundedText(body)), data: NO_DATA }
  const { rest, urls } = await inTurns(takeDataOut(wire.dataForm, body))
  const value = parseJson(boundedText(rest))
  if (urls.size === 0) return { value, data: NO_DATA }
  const data = new Map([...wire.dataOf(value)].flatMap((place) => entryOf(urls, place)))
  return { value: putBack(value, new Map([...urls].filter(([place]) => !data.has(place)))), data }
}

function entryOf(urls: ReadonlyMap<string, string>, place: string): [string, string][] {
  const url = urls.get(place)
  return url === undefined ? [] : [[place, url]]
}

/** Returns what stands for each attachment's data in a fingerprint. No data is written like it. */
async function digestsOf(data: CutData): Promise<Map<string, string>> {
  const digests = new Map<string, string>()
  for (const [place, url] of data) {
    const digest = await subtle.digest('SHA-256', Buffer.from(url, 'latin1')) // D4: hashed on another thread
    digests.set(place, `sha256 ${Buffer.from(digest).toString('hex')}`)
  }
  return digests
}

/** D3 */
function boundedText(text: Buffer): Buffer {
  if (text.length > chatLimits.textBodyBytes) throw tooLong()
  return text
}

function* takeDataOut(
  form: ChatWire['dataForm'],
  body: Buffer,
): Generator<void, { rest: Buffer; urls: Map<string, string> }> {
  const word = randomBytes(16).toString('hex') // D2
  const urls = new Map<string, string>()
  const parts: Buffer[] = []
  let kept = 0
  let taken = 0
  const start = STARTS[form]
  for (let found = body.indexOf(start); found >= 0; found = body.indexOf(start, found + 1)) {
    if (found - taken > chatLimits.textBodyBytes) throw tooLong() // D3
    const at = form === 'url' ? found : valueAfter(body, found + start.length)
    const end = body.indexOf(QUOTE, at + 1)
    if (end < 0) break
    if (end - at < WORTH_BYTES || isEscaped(body, found) || isName(body, end)) continue
    const data = unescaped(body.toString('latin1', at + 1, end))
    if (!(yield* isLongData(form, data))) continue // D1
    const head = form === 'url' ? data.slice(0, data.indexOf(',') + 1) : ''
    const place = `${head}${word}${String(urls.size).padStart(8, '0')}`
    parts.push(body.subarray(kept, at + 1), Buffer.from(place))
    urls.set(place, data)
    taken += end - at
    kept = end
    found = end
  }
  if (urls.size === 0) return { rest: body, urls }
  return { rest: Buffer.concat([...parts, body.subarray(kept)]), urls }
}

/** The quote that starts the string value of the field whose name ends here, or a place that ends nothing. */
function valueAfter(body: Buffer, nameEnd: number): number {
  const colon = afterBlanks(body, nameEnd)
  const value = afterBlanks(body, colon + 1)
  return body[colon] === COLON && body[value] === QUOTE ? value : nameEnd
}

/** `isAttachmentData` for megabytes (D4). */
function* isLongData(form: ChatWire['dataForm'], data: string): Generator<void, boolean> {
  const start = form === 'url' ? data.indexOf(',') + 1 : 0
  if (form === 'url' && !isAttachmentData(`${data.slice(0, start)}AAAA`)) return false
  for (let at = start; at < data.length; at += TURN_BYTES) {
    yield
    const part = data.slice(at, at + TURN_BYTES)
    if (!isBase64(part) || (at + TURN_BYTES < data.length && part.endsWith('='))) return false
  }
  return start < data.length
}

/** JSON allows a slash to be escaped with a backslash. */
function unescaped(text: string): string {
  return text.includes('\\') ? text.replaceAll('\\/', '/') : text
}

/** Whether the quote is inside a string: an odd number of backslashes precedes it. */
function isEscaped(body: Buffer, at: number): boolean {
  let backslashes = 0
  while (body[at - 1 - backslashes] === BACKSLASH) backslashes++
  return backslashes % 2 === 1
}

/** Whether the string that ends here is a field name: a colon follows it. */
function isName(body: Buffer, end: number): boolean {
  return body[afterBlanks(body, end + 1)] === COLON
}

function afterBlanks(body: Buffer, at: number): number {
  let next = at
  while (BLANKS.includes(body[next]!)) next++
  return next
}

/** D2 */
function putBack(value: unknown, urls: ReadonlyMap<string, string>): unknown {
  if (urls.size === 0) return value
  if (typeof value === 'string') return urls.get(value) ?? value
  if (typeof value !== 'object' || value === null) return value
  const fields = value as Record<string | number, unknown>
  for (const name of Object.keys(fields)) {
    const inner = fields[name]
    if (typeof inner === 'object' || (typeof inner === 'string' && urls.has(inner)))
      setField(fields, name, putBack(inner, urls))
  }
  return value
}

/** Sets a field without treating `__proto__` specially. */
function setField(fields: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(fields, name, { value, writable: true, enumerable: true, configurable: true })
}

function tooLong(): Refusal {
  const { textBodyBytes } = chatLimits
  return new Refusal(
    'request_too_large',
    `The request body is larger than ${textBodyBytes} bytes in addition to the data of its images and files.`,
    `Send at most ${textBodyBytes} bytes in addition to the data of images and files.`,
  )
}
