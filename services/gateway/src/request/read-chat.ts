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
  /** The project that the caller names, for the ledger to compare; null when none is named. */
  selector: string | null
  request: ChatRequest
  idempotency: { key: string; fingerprint: string } | null
}

/**
 * Reads POST /v1/chat/completions once its key has been read: the headers, then the body (rules §2.7, §3).
 * @throws Refusal 400 or 413
 * @throws ClientDisconnected when the caller left before the body was complete
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

/** Room is made for what a body says of its length; one that says nothing is as long as a text may be. */
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

// A body may be megabytes of images in base64 and some kilobytes of all the rest. What is costly (to parse, to check, to walk) is
// done with the rest alone.
//   D1  Data of an image is what is in a string that begins with `data:image/`; a quote before it that is not escaped begins a
//       string, in JSON that is JSON at all. What isn't base64 to the end of its string stays where it is, and so does the name of a
//       field.
//   D2  In its place stands a word that the caller can't know. After parsing the data is put back, wherever in the body it stood.
//   D3  The rest is bounded as every body is.

const START = Buffer.from('"data:image')
const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const BLANKS: readonly number[] = [0x20, 0x09, 0x0a, 0x0d]
/** Shorter data is not worth taking out. */
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

/** JSON may write a slash with a backslash before it. */
function unescaped(text: string): string {
  return text.includes('\\') ? text.replaceAll('\\/', '/') : text
}

/** Whether the quote is one inside a string: an odd number of backslashes stands before it. */
function isEscaped(body: Buffer, at: number): boolean {
  let backslashes = 0
  while (body[at - 1 - backslashes] === BACKSLASH) backslashes++
  return backslashes % 2 === 1
}

/** Whether the string that ends here is the name of a field: a colon follows it. */
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

/** A field `__proto__` is one like any other. */
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
