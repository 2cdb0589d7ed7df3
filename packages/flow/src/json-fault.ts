import canonicalize from 'canonicalize'
import { jsonWithin } from './json-text.ts'

/** Why a part of a graph can't become part of a package, to follow its name; or null. */
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
