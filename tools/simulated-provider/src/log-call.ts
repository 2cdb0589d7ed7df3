import { hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { WireRequest } from './answer-wire.ts'
import type { CallLog, LoggedCall } from './call-log.ts'

const promptCharactersKept = 1_000
const bodyBytesKept = 160 * 1024
const secretHeaders = ['authorization', 'x-api-key', 'api-key', 'x-goog-api-key']
const headersKept = [
  'accept',
  'content-type',
  'user-agent',
  'traceparent',
  'tracestate',
  'idempotency-key',
  'anthropic-version',
]

/** Logs a call that has arrived. */
export function logCall(
  log: CallLog,
  path: string,
  req: IncomingMessage,
  body: Buffer,
  { model, prompt, stream }: WireRequest,
): LoggedCall {
  return log.add({
    model,
    path,
    stream,
    headers: headersThatMatter(req),
    bodyDigest: hash('sha256', body),
    body: body.length <= bodyBytesKept ? body.toString() : null,
    images: dataIn(body, BEFORE_IMAGE_DATA),
    files: dataIn(body, BEFORE_FILE_DATA),
    prompt: excerpt(prompt),
    atMs: Date.now(),
  })
}

/** What precedes image data, as in chat completions or as in the Messages format. */
const BEFORE_IMAGE_DATA = /data:image\/[a-z]+;base64,|"type":"base64","media_type":"image\/[a-z]+","data":"/g
/** The same for files, and as in the Gemini format. */
const BEFORE_FILE_DATA =
  /data:application\/pdf;base64,|"type":"base64","media_type":"application\/pdf","data":"|"mimeType":"application\/pdf","data":"/g

/**
 * The data ends with its string. A pattern for the data as well would exceed the stack of V8's pattern matcher with
 * megabytes of it, depending on what ran before.
 */
function dataIn(body: Buffer, before: RegExp): string[] {
  if (!body.includes('base64')) return []
  const text = body.toString('latin1')
  return Array.from(text.matchAll(before), ({ 0: head, index }) => {
    const from = index + head.length
    return hash('sha256', Buffer.from(text.slice(from, text.indexOf('"', from)), 'base64'))
  })
}

function headersThatMatter({ headers }: IncomingMessage): Record<string, string> {
  const kept: Record<string, string> = {}
  for (const name in headers) {
    const value = String(headers[name])
    if (secretHeaders.includes(name)) kept[name] = `sha256:${hash('sha256', value).slice(0, 16)}`
    else if (name.startsWith('x-') || headersKept.includes(name)) kept[name] = value
  }
  return kept
}

function excerpt(prompt: string): string {
  if (prompt.length <= promptCharactersKept) return prompt
  const half = promptCharactersKept / 2
  // Copied through a buffer, so that the excerpt doesn't keep the whole prompt in memory.
  return Buffer.from(`${prompt.slice(0, half)} … ${prompt.slice(-half)}`).toString()
}
