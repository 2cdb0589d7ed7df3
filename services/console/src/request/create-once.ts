import { createHash } from 'node:crypto'
import type { Request, Response } from 'express'
import { idempotencyKeyLimits } from '@gateway/api/limits'
import { refuse } from '@gateway/api/refusal'
import type { Transaction } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import { userOf } from '../sign-in/user.ts'

// Creates objects at most once per `Idempotency-Key` (rules §7.8).
//   I1  The transaction that creates the object first inserts the key. So either both exist or neither does, even if a
//       process is killed; a concurrent duplicate request waits for that row and then finds it.
//   I2  A refusal creates and stores nothing: once its cause is gone, the same key creates the object.
//   I3  Keys are separate per caller. The caller is authorized first, on a repeated request as on the first.
//   I4  No secret is stored. The response to a repeated request omits it and says how to get another one.

type Deps = Pick<ConsoleDeps, 'prisma'>

/** Parts of the request that must match. */
interface Asked {
  req: Request
  sentBody(): Promise<Record<string, unknown>>
}

/** Created object, or its JSON; `repeated`: the response to a repeated request if it differs (I4). */
type Made<Body> = { body: Body; repeated?: Body } | { json: string }

type InTransaction = <T>(work: (tx: Transaction) => Promise<T>) => Promise<T>

/**
 * Creates an object and responds with 201; for a key that was used before, with the original response.
 * @param make does all its work in the transaction it receives
 * @param inTransaction opens the transaction, if not in the default way
 * @throws Refusal `idempotency_mismatch`, `idempotency_key_invalid`, `duplicate_header`
 */
export async function createOnce<Body>(
  deps: Deps,
  call: Asked,
  res: Response<Body>,
  make: (tx: Transaction) => Promise<Made<Body>>,
  inTransaction: InTransaction = (work) => deps.prisma.$transaction(work),
): Promise<void> {
  const key = readKey(call.req)
  if (key === null) return send(res, jsonOf(await inTransaction(make)))
  const owner = { user: userOf(res).id, key }
  const fingerprint = await fingerprintOf(call)
  const { made, kept } = await inTransaction(async (tx) => {
    const fresh = await tx.idempotentCreation.createMany({ data: [{ ...owner, fingerprint }], skipDuplicates: true })
    if (fresh.count === 0) return { made: null, kept: await readKept(tx, owner, fingerprint) }
    const made = await make(tx)
    const answer = new TextEncoder().encode(jsonOf('repeated' in made ? { body: made.repeated } : made))
    await tx.idempotentCreation.update({ where: { user_key: owner }, data: { answer } })
    return { made, kept: null }
  }) // I1
  if (made !== null) return send(res, jsonOf(made))
  sendRepeated(res, kept!)
}

/**
 * Responds to a repeated request before any other check, because the state changed by the first request could refuse
 * it. Returns whether it responded.
 * @throws Refusal as `createOnce` does
 */
export async function answeredBefore(deps: Deps, call: Asked, res: Response): Promise<boolean> {
  const key = readKey(call.req)
  if (key === null) return false
  const owner = { user: userOf(res).id, key }
  const kept = await readKept(deps.prisma, owner, await fingerprintOf(call))
  if (kept !== null) sendRepeated(res, kept)
  return kept !== null
}

type Answer = Uint8Array<ArrayBuffer>

function jsonOf(made: Made<unknown>): string {
  return 'json' in made ? made.json : JSON.stringify(made.body)
}

/** Returns what was created under the key, or null. @throws Refusal `idempotency_mismatch` */
async function readKept(
  prisma: Transaction,
  owner: { user: string; key: string },
  fingerprint: Uint8Array,
): Promise<Answer | null> {
  const kept = await prisma.idempotentCreation.findUnique({ where: { user_key: owner } })
  if (kept === null) return null
  if (!Buffer.from(kept.fingerprint).equals(fingerprint)) throw refuse('idempotency_mismatch', {})
  return kept.answer
}

function sendRepeated(res: Response, answer: Answer): void {
  res.set('Idempotent-Replayed', 'true')
  send(res, Buffer.from(answer))
}

function send(res: Response, json: string | Buffer): void {
  res.status(201).type('json').end(json)
}

/** SHA-256 of method, path and body, independent of the order of its fields. */
export async function fingerprintOf({ req, sentBody }: Asked): Promise<Buffer<ArrayBuffer>> {
  const asked = [req.method, req.path, await sentBody()]
  return createHash('sha256').update(JSON.stringify(asked, inOrder)).digest()
}

function inOrder(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

const { min, max } = idempotencyKeyLimits
const FIT_KEY = new RegExp(`^[\\x21-\\x7e]{${min},${max}}$`)

/** Returns the idempotency key, or null. @throws Refusal `idempotency_key_invalid`, `duplicate_header` */
export function readKey({ headersDistinct }: Pick<Request, 'headersDistinct'>): string | null {
  const [key, ...more] = headersDistinct['idempotency-key'] ?? []
  if (more.length > 0) throw refuse('duplicate_header', { header: 'Idempotency-Key' })
  if (key === undefined) return null
  if (!FIT_KEY.test(key)) throw refuse('idempotency_key_invalid', {})
  return key
}

const MAX_ROWS = 1_000
const KEPT_HOURS = 48

/** Deletes records of idempotent creations after two days, in batches. Returns the number deleted. */
export function forgetCreations({ prisma }: Pick<ConsoleDeps, 'prisma'>): Promise<number> {
  return prisma.$executeRaw`
    DELETE FROM control.idempotent_creations WHERE (user_id, key) IN (
      SELECT user_id, key FROM control.idempotent_creations
       WHERE created_at < now() - ${KEPT_HOURS}::int * interval '1 hour' LIMIT ${MAX_ROWS}::int)`
}
