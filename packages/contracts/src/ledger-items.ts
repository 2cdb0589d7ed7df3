import { z } from 'zod'
import { promptSize, tokens } from './prompt-size.ts'
import { admitNodeItem, claimItem, completeItem } from './flow-items.ts'

// What callers of the ledger ask for, one item a line, and each of them safe to repeat by its id (architecture.md, money core 4).
// POST /items takes NDJSON `{ "n": 7, "item": { "op": "admit", … } }` and answers `{ "n": 7, "outcome": … }` in any order.

const text = (max: number) => z.string().min(1).max(max)
const id = text(64)
const hash = z.string().regex(/^[0-9a-f]{64}$/)

/** Asks for a reservation for one chat call. `id` becomes the reservation's id, and of a fresh call the invocation's. */
export const admitItem = z.strictObject({
  op: z.literal('admit'),
  id,
  /** The process incarnation that will call the provider. */
  instance: id,
  /** SHA-256 of the secret, hex. */
  keyHash: hash,
  /** The project a header or body field names; null when none does. */
  selector: z.string().max(512).nullable(),
  model: text(256),
  /** Conditional parameters in use, which the model must support. */
  parameters: z.array(text(64)).max(32),
  promptSize: promptSize,
  idempotency: z.strictObject({ key: text(128), fingerprint: hash }).nullable(),
})
export type AdmitItem = z.infer<typeof admitItem>

/** Charges a reservation for its usage, and saves the answer of a keyed call. Of a node of a run: `complete` does. */
export const settleItem = z.strictObject({
  op: z.literal('settle'),
  id,
  usage: z.strictObject({ promptTokens: tokens, completionTokens: tokens, estimated: z.boolean() }),
  answer: z.strictObject({ contentType: text(128), body: z.string() }).nullable(),
})
export type SettleItem = z.infer<typeof settleItem>

/**
 * Gives a reservation back. Of an id that was never admitted it leaves a tombstone, which refuses a late admission.
 * Of a node of a run: `complete` does.
 */
export const releaseItem = z.strictObject({ op: z.literal('release'), id, reason: text(200) })
export type ReleaseItem = z.infer<typeof releaseItem>

export const ledgerItem = z.discriminatedUnion('op', [
  admitItem,
  settleItem,
  releaseItem,
  admitNodeItem,
  claimItem,
  completeItem,
])
export type LedgerItem = z.infer<typeof ledgerItem>

/** A line of the request to POST /items. */
export interface ItemLine {
  n: number
  /** How long the caller still waits; the item is dropped undecided past it. Milliseconds. */
  budgetMs: number
  item: LedgerItem
  /** The span that asks, as W3C Trace Context writes it; only where it is traced. */
  trace?: string
}
