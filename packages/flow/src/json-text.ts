import { flowLimits } from '@gateway/api/limits'
import { utf8Bytes } from '@gateway/api/text-bytes'
import canonicalize from 'canonicalize'

/** Maximum nesting depth of a value anywhere in a flow. */
export const maxValueDepth = 128

export type JsonText = { ok: true; text: string; bytes: number } | { ok: false; why: 'too-large' | 'too-deep' }

/**
 * Returns compact JSON, as JSON.stringify writes it, and its length in UTF-8 bytes. Stops at the limit, so a value that
 * contains the same list a thousand times costs no more than the limit.
 */
export function jsonWithin(value: unknown, limitBytes: number): JsonText {
  const parts: string[] = []
  let bytes = 0
  let why: 'too-large' | 'too-deep' | null = null

  function write(part: string): boolean {
    bytes += utf8Bytes(part)
    if (bytes > limitBytes) why = 'too-large'
    else parts.push(part)
    return why === null
  }
  function writeAll(open: string, keys: number, close: string, each: (at: number) => boolean, depth: number): boolean {
    if (depth >= maxValueDepth) {
      why = 'too-deep'
      return false
    }
    if (!write(open)) return false
    for (let at = 0; at < keys; at++) {
      if (at > 0 && !write(',')) return false
      if (!each(at)) return false
    }
    return write(close)
  }
  function visit(value: unknown, depth: number): boolean {
    if (typeof value === 'string' && value.length > limitBytes) why = 'too-large'
    if (why !== null) return false
    if (Array.isArray(value)) return writeAll('[', value.length, ']', (at) => visit(value[at], depth + 1), depth)
    if (typeof value !== 'object' || value === null) return write(JSON.stringify(value) ?? 'null')
    const entries = Object.entries(value).filter(([, held]) => held !== undefined)
    const entry = (at: number) => {
      const [key, held] = entries[at]!
      return write(`${JSON.stringify(key)}:`) && visit(held, depth + 1)
    }
    return writeAll('{', entries.length, '}', entry, depth)
  }

  visit(value, 0)
  return why === null ? { ok: true, text: parts.join(''), bytes } : { ok: false, why }
}

/**
 * Whether a value fits on a port (flows §2.6): of a text its UTF-8 bytes count, of anything else its compact JSON.
 */
export function portFit(value: unknown): { ok: true } | { ok: false; why: 'too-large' | 'too-deep' } {
  if (typeof value !== 'string') return jsonWithin(value, flowLimits.portBytes)
  const isLarge = value.length > flowLimits.portBytes || utf8Bytes(value) > flowLimits.portBytes
  return isLarge ? { ok: false, why: 'too-large' } : { ok: true }
}

/** Most bytes of a text on a port as compact JSON: each byte of it may be a control character. */
export const portTextJsonBytes = 6 * flowLimits.portBytes + 2

/** Returns why a part of a graph can't be packaged, to follow its name, or null. */
export function jsonFault(value: unknown): string | null {
  const json = jsonWithin(value, Number.POSITIVE_INFINITY)
  if (!json.ok) return 'is nested too deeply'
  try {
    canonicalize(value)
    return null
  } catch {
    return 'holds a number that is not finite, or half a character'
  }
}
