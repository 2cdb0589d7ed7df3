import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { isWellFormedSecret, KEY_SECRET_PREFIX } from '@gateway/api/ids'
import type { CallerQuestion } from '@gateway/ledger-protocol/ledger-reads'
import { idempotencyKeyLimits } from '@gateway/api/limits'
import { invalidField, invalidIssue, READABLE } from '@gateway/api/field-problem'
import { refuse } from '@gateway/api/refusal'
import { serviceTag } from '@gateway/api/service-tag'
import canonicalize from 'canonicalize'

// Headers that decide who pays and whether a call is new. A duplicate could mean one thing here and another at a proxy,
// so duplicates are refused.

/**
 * Returns the hash of the secret in `Authorization: Bearer svc_…` (rules §1.3) or, at the paths that clients of
 * Anthropic call, in `x-api-key`. The secret itself never leaves this function.
 * @throws Refusal `key_missing`, `key_invalid` for a malformed secret (no lookup), `duplicate_header`; `invalid_request`
 * if both headers are sent and differ
 */
export function readKey(req: IncomingMessage): string {
  refuseRepeated(req, AUTHORIZATION)
  const bearer = /^bearer +(\S.*)$/i.exec(req.headers.authorization ?? '')?.[1]
  const apiKey = TAKES_API_KEY.test(req.url ?? '') ? req.headers['x-api-key']?.toString().trim() : undefined
  if (bearer !== undefined && apiKey !== undefined && bearer !== apiKey)
    throw invalidField('x-api-key', 'differs from the key in Authorization', 'send one of the two')
  const secret = bearer ?? apiKey
  if (secret === undefined) throw refuse('key_missing', {})
  if (!isWellFormedSecret(KEY_SECRET_PREFIX, secret)) throw refuse('key_invalid', {})
  return createHash('sha256').update(secret).digest('hex')
}

/**
 * Returns the caller of a request without a body (rules §2.7).
 * @throws Refusal `duplicate_header`
 */
export function readCaller(req: IncomingMessage, keyHash: string): CallerQuestion {
  refuseRepeatedHeaders(req)
  return { keyHash, selector: selectorOf(req, null) }
}

/**
 * Returns the Idempotency-Key header, or null without one (rules §5.1).
 * @throws Refusal `idempotency_key_invalid`
 */
export function readIdempotencyKey({ headers }: Pick<IncomingMessage, 'headers'>): string | null {
  const key = headers['idempotency-key']
  if (key === undefined) return null
  if (typeof key !== 'string' || !FIT_KEY.test(key)) throw refuse('idempotency_key_invalid', {})
  return key
}

/**
 * Returns the project that a call names (rules §2.7) in X-Service-Project, X-Project-ID or `project_id` of the body.
 *
 * Returns null if none is present, the value if all agree, and otherwise all of them joined, which matches no project
 * ID, so that the ledger refuses with `project_mismatch`. An empty value is a mismatch too: a caller that sends a
 * selector wants the check, and an unset variable in their script must not disable it.
 */
export function selectorOf(req: Pick<IncomingMessage, 'headers'>, projectId: string | null): string | null {
  const named = new Set<string>()
  for (const value of [req.headers['x-service-project'], req.headers['x-project-id'], projectId])
    if (typeof value === 'string') named.add(value)
  return named.size === 0 ? null : storable([...named].join(' ')).slice(0, MAX_SELECTOR_CHARACTERS)
}

/**
 * Returns the tag that a call names in X-Service-Tag; null: none (rules §2.12).
 * @throws Refusal `invalid_request`
 */
export function readTag({ headers }: Pick<IncomingMessage, 'headers'>): string | null {
  const named = headers['x-service-tag']
  if (named === undefined) return null
  const { data, error } = serviceTag.safeParse(named, READABLE)
  if (error) throw invalidIssue({ ...error.issues[0]!, path: ['X-Service-Tag'] })
  return data
}

/** @throws Refusal `duplicate_header` for any of these headers except Authorization, which `readKey` checks */
export function refuseRepeatedHeaders(req: Pick<IncomingMessage, 'rawHeaders'>): void {
  refuseRepeated(req, OTHERS)
}

/** Replaces NUL, which Postgres can't store. */
export function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD')
}

/** Returns an ID from a path in a form that the ledger accepts. No real ID is longer. */
export function storableId(text: string): string {
  return storable(text).slice(0, MAX_ID_CHARACTERS)
}

export const MAX_ID_CHARACTERS = 256
const MAX_SELECTOR_CHARACTERS = 512

const { min, max } = idempotencyKeyLimits
/** Visible ASCII. */
const FIT_KEY = new RegExp(`^[!-~]{${min},${max}}$`)

/** Display names by lower-case name. */
type Headers = ReadonlyMap<string, string>
const AUTHORIZATION: Headers = new Map([
  ['authorization', 'Authorization'],
  ['x-api-key', 'x-api-key'],
])
const TAKES_API_KEY = /^\/v1\/(messages|models)([/?]|$)/i
const OTHERS: Headers = new Map([
  ['idempotency-key', 'Idempotency-Key'],
  ['x-service-project', 'X-Service-Project'],
  ['x-project-id', 'X-Project-ID'],
  ['x-service-tag', 'X-Service-Tag'],
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
 * Returns the fingerprint that is equal for equal requests under one idempotency key: SHA-256, hex, of the canonical
 * body without `project_id` and without null fields (rules §5.1). Nested nulls are kept, because they can have a
 * meaning (`enum: [null]`).
 * @param digests digests of values that `body` has placeholders for, by placeholder
 * @param wire of the call: the same body means something else on another one
 */
export function fingerprintOf(body: object, digests: ReadonlyMap<string, string> = NO_DIGESTS, wire = ''): string {
  const meant = Object.fromEntries(
    Object.entries(body).filter(([name, value]) => value !== null && name !== 'project_id'),
  )
  let text = canonical(meant)
  for (const [placeholder, digest] of digests) text = text.replaceAll(placeholder, digest)
  return createHash('sha256').update(wire).update(text).digest('hex')
}

const NO_DIGESTS: ReadonlyMap<string, string> = new Map()

/** Canonical JSON doesn't support lone surrogates. Such a body is serialized in the order it was sent. */
function canonical(value: object): string {
  try {
    return canonicalize(value)!
  } catch {
    return JSON.stringify(value)
  }
}
