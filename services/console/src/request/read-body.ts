import type { IncomingMessage } from 'node:http'
import { refuse } from '@gateway/contracts/refusal'

const LIMIT_BYTES = 256 * 1024

/**
 * Reads one JSON object; `{}` where nothing was sent.
 * @throws Refusal `request_too_large` before it is read whole, `invalid_json`
 */
export async function readBody(req: IncomingMessage, limitBytes = LIMIT_BYTES): Promise<Record<string, unknown>> {
  const tooLarge = () => refuse('request_too_large', { limitBytes })
  if (Number(req.headers['content-length']) > limitBytes) throw tooLarge()
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of req as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes > limitBytes) throw tooLarge()
    parts.push(part)
  }
  return bytes === 0 ? {} : parse(Buffer.concat(parts))
}

function parse(bytes: Buffer): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    throw refuse('invalid_json', {
      reason: error instanceof SyntaxError ? 'it can not be parsed' : 'it is not UTF-8',
    })
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw refuse('invalid_json', { reason: 'it is not an object' })
}
