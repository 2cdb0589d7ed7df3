import { createHash } from 'node:crypto'
import type { Request, Response } from 'express'
import { idempotencyKeyLimits } from '@gateway/api/limits'
import { refuse } from '@gateway/api/refusal'
import type { Transaction } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import { userOf } from '../sign-in/user.ts'

// What is made at most once under an `Idempotency-Key` (rules §7.8).
//   I1  The key is written down by the transaction that makes the thing, before it does anything else. So there are both or neither,
//       no matter what is killed; and a copy that comes meanwhile waits for that row, and then finds it.
//   I2  A refusal makes nothing and keeps nothing: once its reason is gone the same key makes the thing.
//   I3  Keys belong to anyone who asks. They are authorized before, at a repeat as at the first time.
//   I4  No secret is kept. A repeat is answered without it, and with what to do for another one.

type Deps = Pick<ConsoleDeps, 'prisma'>

/** What is asked, as far as it has to be the same. */
interface Asked {
  req: Request
  sentBody(): Promise<Record<string, unknown>>
}

/** What was made, or the JSON of it; `repeated`: what a repeat is answered, where it isn't the same (I4). */
type Made<Body> = { body: Body; repeated?: Body } | { json: string }

type InTransaction = <T>(work: (tx: Transaction) => Promise<T>) => Promise<T>

/**
 * Makes something and answers it with 201; under a key that has made it before, with what was answered then.
 * @param make is given a transaction, and does in it all that it does
 * @param inTransaction how it is opened, where that is not the usual way
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
 * Answers a repeat before anything else is looked at, where the state that the first changed would refuse it. Answers whether it did.
 * @throws Refusal as `createOnce`
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

/** null: nothing was made under it. @throws Refusal `idempotency_mismatch` */
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

/** Of the method, the path and the body, regardless of the order of its fields. SHA-256. */
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

/** null: there is none. @throws Refusal `idempotency_key_invalid`, `duplicate_header` */
export function readKey({ headersDistinct }: Pick<Request, 'headersDistinct'>): string | null {
  const [key, ...more] = headersDistinct['idempotency-key'] ?? []
  if (more.length > 0) throw refuse('duplicate_header', { header: 'Idempotency-Key' })
  if (key === undefined) return null
  if (!FIT_KEY.test(key)) throw refuse('idempotency_key_invalid', {})
  return key
}

const MAX_ROWS = 1_000
const KEPT_HOURS = 48

/** Forgets what was made under idempotency keys two days ago, some at a time. Answers how much. */
export function forgetCreations({ prisma }: Pick<ConsoleDeps, 'prisma'>): Promise<number> {
  return prisma.$executeRaw`
    DELETE FROM control.idempotent_creations WHERE (user_id, key) IN (
      SELECT user_id, key FROM control.idempotent_creations
       WHERE created_at < now() - ${KEPT_HOURS}::int * interval '1 hour' LIMIT ${MAX_ROWS}::int)`
}
