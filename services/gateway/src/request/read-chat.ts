import type { IncomingMessage } from 'node:http'
import { type ChatRequest, readChatRequest } from '@gateway/api/chat-request'
import { chatLimits } from '@gateway/api/limits'
import { Refusal } from '@gateway/api/refusal'
import { parseJson, readBody } from '@gateway/service-kit/http/read-body'
import { fingerprintOf, readIdempotencyKey, refuseRepeatedHeaders, selectorOf } from './read-headers.ts'
import { randomBytes } from 'node:crypto'
import { isImageData } from '@gateway/api/images'

/** A chat call that has passed every check that needs no state (rules §2.3). */
export interface ChatCall {
  /** SHA-256 of the key's secret, hex. */
  keyHash: string
  /** Project named by the caller, which the ledger compares; null if none is named. */
  selector: string | null
  request: ChatRequest
  idempotency: { key: string; fingerprint: string } | null
}

/**
 * Reads POST /v1/chat/completions once its key has been read: the headers, then the body (rules §2.7, §3).
 * @throws Refusal 400 or 413
 * @throws ClientDisconnected if the caller disconnects before the body is complete
 */
export async function readChat(req: IncomingMessage, keyHash: string): Promise<ChatCall> {
  refuseRepeatedHeaders(req)
  const idempotencyKey = readIdempotencyKey(req)
  const body = parseChatBody(await readWhole(req))
  const request = readChatRequest(body)
  return {
    keyHash,
    selector: selectorOf(req, request.projectId),
    request,
    idempotency: idempotencyKey === null ? null : { key: idempotencyKey, fingerprint: fingerprintOf(body as object) },
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
    `Send at most ${textBodyBytes} bytes; or, for images, a body that says its length in Content-Length, of at most ${bodyBytes} bytes.`,
  )
}

// A body can be megabytes of base64 images plus a few kilobytes of other text. Expensive work (parsing, validating,
// walking) is done without the image data.
//   D1  Image data is a string that starts with `data:image/`. In valid JSON, an unescaped quote before it starts a
//       string. A string that isn't base64 to its end stays in place, and so does a field name.
//   D2  A placeholder that the caller can't guess replaces it. After parsing, the data is put back in its place.
//   D3  The rest is limited like any body.

const START = Buffer.from('"data:image')
const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const BLANKS: readonly number[] = [0x20, 0x09, 0x0a, 0x0d]
/** Shorter data isn't worth extracting. */
const WORTH_BYTES = 4_096

/**
 * Reads the body of a chat request as JSON.
 * @throws Refusal `invalid_json`, `request_too_large`
 */
export function parseChatBody(body: Buffer): unknown {
  if (!body.includes(START)) return parseJson(boundedText(body))
  const { rest, urls, word } = takeDataOut(body)
  const value = parseJson(boundedText(rest))
  return urls.length === 0 ? value : putBack(value, word, urls)
}

/** D3 */
function boundedText(text: Buffer): Buffer {
  if (text.length > chatLimits.textBodyBytes) throw tooLong()
  return text
}

function takeDataOut(body: Buffer): { rest: Buffer; urls: string[]; word: string } {
  const word = `image ${randomBytes(16).toString('hex')} ` // D2
  const urls: string[] = []
  const parts: Buffer[] = []
  let kept = 0
  for (let at = body.indexOf(START); at >= 0; at = body.indexOf(START, at + 1)) {
    const end = body.indexOf(QUOTE, at + 1)
    if (end < 0) break
    if (end - at < WORTH_BYTES || isEscaped(body, at) || isName(body, end)) continue
    const url = unescaped(body.toString('latin1', at + 1, end))
    if (!isImageData(url)) continue // D1
    parts.push(body.subarray(kept, at + 1), Buffer.from(word + urls.length))
    urls.push(url)
    kept = end
    at = end
  }
  if (urls.length === 0) return { rest: body, urls, word }
  return { rest: Buffer.concat([...parts, body.subarray(kept)]), urls, word }
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
  let next = end + 1
  while (BLANKS.includes(body[next]!)) next++
  return body[next] === COLON
}

/** D2 */
function putBack(value: unknown, word: string, urls: readonly string[]): unknown {
  if (typeof value === 'string') return value.startsWith(word) ? urls[Number(value.slice(word.length))] : value
  if (typeof value !== 'object' || value === null) return value
  const fields = value as Record<string | number, unknown>
  for (const name of Object.keys(fields)) {
    const inner = fields[name]
    if (typeof inner === 'object' || (typeof inner === 'string' && inner.startsWith(word)))
      setField(fields, name, putBack(inner, word, urls))
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
    `The request body is larger than ${textBodyBytes} bytes in addition to the data of its images.`,
    `Send at most ${textBodyBytes} bytes in addition to the data of images.`,
  )
}
