import type { IncomingMessage } from 'node:http'
import { refuse } from '@gateway/contracts/refusal'
import { readBody } from '@gateway/service-kit/http/read-body'

const LIMIT_BYTES = 256 * 1024

/**
 * Reads one JSON object; `{}` where nothing was sent. How deep it may be nested, each field's own check says.
 * @throws Refusal `request_too_large` before it is read whole, `invalid_json`, `invalid_request` for an encoded body
 */
export async function readJsonBody(req: IncomingMessage, limitBytes = LIMIT_BYTES): Promise<Record<string, unknown>> {
  const bytes = await readBody(req, limitBytes)
  return bytes.length === 0 ? {} : parse(bytes)
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
