import { z } from 'zod'
import { admitNodeItem, claimItem, completeItem, type ClaimOutcome, type CompleteOutcome } from './flow-items.ts'
import type { AdmitNodeOutcome, AdmitOutcome, ReleaseOutcome, SettleOutcome, Undecided } from './ledger-outcomes.ts'
import { callTiming } from '@gateway/api/chat-answer'
import { serviceTag } from '@gateway/api/service-tag'
import { picoDigits, promptSize, usage } from '@gateway/pricing/usage'

// Items, one per line, each safe to repeat by its id (architecture §M4). A channel (channels.ts) takes messages of lines
// `{ "n": 7, "item": { "op": "admit", … } }` and returns `{ "n": 7, "outcome": … }` in any order.

const text = (max: number) => z.string().min(1).max(max)
const id = text(64)
const hash = z.string().regex(/^[0-9a-f]{64}$/)

/**
 * Requests a reservation for one call of a chat or embedding product. `id` becomes the reservation's id, and for a fresh call the invocation's.
 */
export const admitItem = z.strictObject({
  op: z.literal('admit'),
  id,
  /** The process incarnation that will call the provider. null: only check what comes before money; reserve nothing. */
  instance: id.nullable(),
  /** SHA-256 of the secret, hex. */
  keyHash: hash,
  /** The project named by a header or body field; null if none names one. */
  selector: z.string().max(512).nullable(),
  /** That the call names; null or absent: none. */
  tag: serviceTag.nullish(),
  model: text(256),
  /** A product of another kind is not found. Absent: a chat product. */
  kind: z.literal('embedding').optional(),
  /** Conditional parameters in use, which the model must support. */
  parameters: z.array(text(64)).max(32),
  promptSize: promptSize,
  idempotency: z.strictObject({ key: text(128), fingerprint: hash }).nullable(),
})
export type AdmitItem = z.infer<typeof admitItem>

/**
 * Charges a reservation for its usage, and saves the answer of a keyed call. For nodes of executions, use `complete`.
 */
export const settleItem = z.strictObject({
  op: z.literal('settle'),
  id,
  usage,
  /** Of the admission, if it had one: restores a reservation that the database has lost. */
  receipt: text(1024).optional(),
  answer: z.strictObject({ contentType: text(128), body: z.string() }).nullable(),
  timing: callTiming.optional(),
  /** What the provider charges for the usage, exactly; absent if it is unknown. */
  costPico: picoDigits.optional(),
})
export type SettleItem = z.infer<typeof settleItem>

/**
 * Gives a reservation back. An id that was never admitted gets a tombstone, which refuses a late admission.
 * For nodes of executions, use `complete`.
 */
export const releaseItem = z.strictObject({
  op: z.literal('release'),
  id,
  reason: text(200),
  timing: callTiming.optional(),
})
export type ReleaseItem = z.infer<typeof releaseItem>

export interface ItemRow {
  op: string
  item: z.ZodObject
  outcome: OutcomeType<object>
  /**
   * `opening`: it may be refused undecided, and a limited number may wait. `closing`: it is resent until it is decided,
   * and goes first, since it frees money.
   */
  kind: 'opening' | 'closing'
  /** What happens to an opening whose decision did not arrive: its id is released, or it ends with its lease. */
  undecided?: 'released' | 'ends-with-lease'
}

/** Carries a type: the ledger creates the outcome, and callers do not validate it. */
interface OutcomeType<T> {
  readonly type?: T
}
const outcome = <T extends object>(): OutcomeType<T> => ({})

/** The items, by the name of the client's method. */
export const ledgerItems = {
  /** Each call has a new id; it is repeated under the same one only after `instance-unknown`, or with its tokens counted. */
  admit: { op: 'admit', item: admitItem, outcome: outcome<AdmitOutcome>(), kind: 'opening', undecided: 'released' },
  settle: { op: 'settle', item: settleItem, outcome: outcome<SettleOutcome>(), kind: 'closing' },
  release: { op: 'release', item: releaseItem, outcome: outcome<ReleaseOutcome>(), kind: 'closing' },
  /** May be repeated with the same id, for example while it waits for money that other calls have reserved. */
  admitNode: {
    op: 'admit-node',
    item: admitNodeItem,
    outcome: outcome<AdmitNodeOutcome>(),
    kind: 'opening',
    undecided: 'ends-with-lease',
  },
  /** May be repeated with the same lease. */
  claim: {
    op: 'claim',
    item: claimItem,
    outcome: outcome<ClaimOutcome>(),
    kind: 'opening',
    undecided: 'ends-with-lease',
  },
  /** Records how a claimed node ended, and closes its reservation. */
  complete: { op: 'complete', item: completeItem, outcome: outcome<CompleteOutcome>(), kind: 'closing' },
} as const satisfies Record<string, ItemRow>

export type ItemName = keyof typeof ledgerItems
export const itemNames = Object.keys(ledgerItems) as ItemName[]
type Rows = typeof ledgerItems
export type ItemOf<Name extends ItemName> = Omit<z.infer<Rows[Name]['item']>, 'op'>
export type OutcomeOf<Name extends ItemName> = NonNullable<Rows[Name]['outcome']['type']>
/** The names of one kind, `opening` or `closing`. */
export type ItemsOfKind<Kind extends ItemRow['kind']> = {
  [Name in ItemName]: Rows[Name]['kind'] extends Kind ? Name : never
}[ItemName]

type AnyItem = Rows[ItemName]['item']
export const ledgerItem = z.discriminatedUnion(
  'op',
  Object.values(ledgerItems).map(({ item }) => item) as [AnyItem, ...AnyItem[]],
)
export type LedgerItem = z.infer<typeof ledgerItem>

/** An item, as a line of a message to the ledger. */
export interface ItemLine {
  n: number
  /** How long the caller still waits; after that the item is dropped undecided. Milliseconds. */
  budgetMs: number
  item: LedgerItem
  /** Span of the caller, in W3C Trace Context format; absent if it is not traced. */
  trace?: string
}

/** An outcome, as a line of a message from the ledger. */
export interface OutcomeLine {
  n: number
  outcome: OutcomeOf<ItemName> | Undecided
}
