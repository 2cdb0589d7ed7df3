import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'

/**
 * What makes two requests under one idempotency key the same: SHA-256, hex, of the canonical body less `project_id` and
 * the fields that are null (rules §5.1). Nulls further inside are kept, where they may mean something (`enum:
 * [null]`).
 */
export function fingerprintOf(body: object): string {
  const meant = Object.fromEntries(
    Object.entries(body).filter(([name, value]) => value !== null && name !== 'project_id'),
  )
  return createHash('sha256').update(canonical(meant)).digest('hex')
}

/** Canonical JSON knows no half of a surrogate pair; such a body is taken in the order in which it was sent. */
function canonical(value: object): string {
  try {
    return canonicalize(value)!
  } catch {
    return JSON.stringify(value)
  }
}
