import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { isWellFormedSecret, KEY_SECRET_PREFIX } from '@gateway/api/ids'
import type { CallerQuestion } from '@gateway/ledger-protocol/ledger-reads'
import { idempotencyKeyLimits } from '@gateway/api/limits'
import { refuse } from '@gateway/api/refusal'
import canonicalize from 'canonicalize'

// The headers that decide who pays and whether a call is new. Sent twice, they could mean one thing here and another on
// the way, so each is taken once.

/**
 * The hash of the secret in `Authorization: Bearer svc_…` (rules §1.3). The secret itself goes no further than this
 * function.
 * @throws Refusal `key_missing`, `key_invalid` for what can't be a secret of ours (no look-up), `duplicate_header`
 */
export function readKey(req: IncomingMessage): string {
  refuseRepeated(req, AUTHORIZATION)
  const secret = /^bearer +(\S.*)$/i.exec(req.headers.authorization ?? '')?.[1]
  if (secret === undefined) throw refuse('key_missing', {})
  if (!isWellFormedSecret(KEY_SECRET_PREFIX, secret)) throw refuse('key_invalid', {})
  return createHash('sha256').update(secret).digest('hex')
}

/**
 * Who asks, of a request without a body: the key, then the other headers (rules §1.3, §2.7).
 * @throws Refusal 400 or 401
 */
export function readCaller(req: IncomingMessage): CallerQuestion {
  const keyHash = readKey(req)
  refuseRepeatedHeaders(req)
  return { keyHash, selector: selectorOf(req, null) }
}

/**
 * The Idempotency-Key header, or null without one (rules §5.1).
 * @throws Refusal `idempotency_key_invalid`
 */
export function readIdempotencyKey({ headers }: Pick<IncomingMessage, 'headers'>): string | null {
  const key = headers['idempotency-key']
  if (key === undefined) return null
  if (typeof key !== 'string' || !FIT_KEY.test(key)) throw refuse('idempotency_key_invalid', {})
  return key
}

/**
 * The project that a call names (rules §2.7): X-Service-Project, X-Project-ID and `project_id` of the body.
 *
 * null when none is there; the value when all agree; otherwise all of them, which equals no project's id, so that the
 * ledger answers `project_mismatch`. An empty value names no project of ours, so it is a mismatch too: a caller who
 * sends a selector wants the check, and an unset variable in their script must not switch it off.
 */
export function selectorOf(req: Pick<IncomingMessage, 'headers'>, projectId: string | null): string | null {
  const named = new Set<string>()
  for (const value of [req.headers['x-service-project'], req.headers['x-project-id'], projectId])
    if (typeof value === 'string') named.add(value)
  return named.size === 0 ? null : storable([...named].join(' ')).slice(0, MAX_SELECTOR_CHARACTERS)
}

/** @throws Refusal `duplicate_header` for any of these headers but Authorization, which `readKey` has checked */
export function refuseRepeatedHeaders(req: Pick<IncomingMessage, 'rawHeaders'>): void {
  refuseRepeated(req, OTHERS)
}

/** A text as Postgres can compare it; it takes no zero character. */
export function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD')
}

/** An id from a path, as the ledger takes one: no id of ours is longer. */
export function storableId(text: string): string {
  return storable(text).slice(0, MAX_ID_CHARACTERS)
}

export const MAX_ID_CHARACTERS = 256
const MAX_SELECTOR_CHARACTERS = 512

const { min, max } = idempotencyKeyLimits
/** Visible ASCII. */
const FIT_KEY = new RegExp(`^[!-~]{${min},${max}}$`)

/** By their lower-case form, as they are shown. */
type Headers = ReadonlyMap<string, string>
const AUTHORIZATION: Headers = new Map([['authorization', 'Authorization']])
const OTHERS: Headers = new Map([
  ['idempotency-key', 'Idempotency-Key'],
  ['x-service-project', 'X-Service-Project'],
  ['x-project-id', 'X-Project-ID'],
])

function refuseRepeated({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>, headers: Headers): void {
  let seen: string[] | null = null
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const header = headers.get(rawHeaders[at]!.toLowerCase())
    if (header === undefined) continue
    if (seen?.includes(header)) throw refuse('duplicate_header', { header })
    ;(seen ??= []).push(header)
  }
}

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
