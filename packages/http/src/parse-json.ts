import { isUtf8 } from 'node:buffer'
import { refuse } from '@gateway/contracts/refusal'

/** More than any tool's schema needs, and little enough for whatever walks the value afterwards. */
const MAX_LEVELS = 100

/**
 * Reads a body as JSON: a value of any kind, nested 100 levels deep at most.
 * @throws Refusal `invalid_json`
 */
export function parseJson(body: Buffer): unknown {
  if (body.length === 0) throw refuse('invalid_json', { reason: 'it is empty' })
  if (!isUtf8(body)) throw refuse('invalid_json', { reason: 'it is not UTF-8' })
  let value: unknown
  try {
    value = JSON.parse(body.toString())
  } catch (error) {
    throw refuse('invalid_json', { reason: reasonOf(error as SyntaxError) })
  }
  if (isDeeperThan(value, MAX_LEVELS))
    throw refuse('invalid_json', { reason: `it is nested more than ${MAX_LEVELS} levels deep` })
  return value
}

/**
 * Reads a body as one JSON object; `{}` where nothing was sent.
 * @throws Refusal `invalid_json`
 */
export function parseJsonObject(body: Buffer): Record<string, unknown> {
  if (body.length === 0) return {}
  const value = parseJson(body)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw refuse('invalid_json', { reason: 'it is not an object' })
}

/** The parser's words, less what it quotes of the body and less "is not valid JSON", which the refusal says already. */
function reasonOf({ message }: SyntaxError): string {
  const words = message.replace(/,? (?:\.\.\.)?"[^]*" is not valid JSON$/, '').replace(/ (?:in JSON|JSON input)\b/, '')
  return words.charAt(0).toLowerCase() + words.slice(1)
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  for (const inner of Array.isArray(value) ? value : Object.values(value))
    if (isDeeperThan(inner, levels - 1)) return true
  return false
}
