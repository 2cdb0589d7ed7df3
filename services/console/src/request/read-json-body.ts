import type { IncomingMessage } from 'node:http'
import { parseJsonObject, readBody } from '@gateway/service-kit/http/read-body'

const LIMIT_BYTES = 256 * 1024

/**
 * Reads one JSON object; `{}` for an empty body.
 * @throws Refusal `request_too_large` before the whole body is read, `invalid_json`, `invalid_request` for an encoded
 * body or one with too many fields or values
 */
export async function readJsonBody(req: IncomingMessage, limitBytes = LIMIT_BYTES): Promise<Record<string, unknown>> {
  return parseJsonObject(await readBody(req, limitBytes))
}
