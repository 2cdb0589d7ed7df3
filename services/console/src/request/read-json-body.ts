import type { IncomingMessage } from 'node:http'
import { refuse } from '@gateway/api/refusal'
import { readBody } from '@gateway/service-kit/http/read-body'
import { invalidField } from './check.ts'

const LIMIT_BYTES = 256 * 1024

/**
 * Reads one JSON object; `{}` for an empty body. The checks of individual fields limit the nesting depth.
 * @throws Refusal `request_too_large` before the whole body is read, `invalid_json`, `invalid_request` for an encoded
 * body
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
      reason: error instanceof SyntaxError ? 'it cannot be parsed' : 'it is not UTF-8',
    })
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw refuse('invalid_json', { reason: 'it is not an object' })
}

const MAX_LEVELS = 64

/**
 * Requires JSON that is written back as it was read and is not nested deeply enough to overflow a stack. A number such
 * as 1e999 parses as infinity and would be written as null.
 * @throws Refusal `invalid_request` with the field as `param`
 */
export function requireJsonWithinLimits(value: unknown, param: string): void {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_LEVELS) throw invalidField(param, `is nested more than ${MAX_LEVELS} levels deep.`)
    const below: unknown[] = []
    for (const each of level) {
      if (typeof each === 'number' && !Number.isFinite(each))
        throw invalidField(param, 'holds a number that is too large.')
      if (typeof each === 'object' && each !== null) for (const inner of Object.values(each)) below.push(inner)
    }
    level = below
  }
}
