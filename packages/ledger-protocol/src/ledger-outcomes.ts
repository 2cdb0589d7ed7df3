import type { LedgerRefusal } from './ledger-refusal.ts'
import type { PriceSnapshot } from '@gateway/pricing/usage'

// What the ledger answers to admissions and to what ends them, an outcome an item (ledger-items.ts).

/** Where the call goes, by priority. Names of providers never leave the service. */
export interface Route {
  provider: string
  model: string
}

export interface Admitted {
  kind: 'admitted'
  /** What the caller knows the call by: the id of its first attempt; of a node, its `callId`. */
  invocation: string
  attempt: number
  project: string
  /** Empty where a user started it in the console. */
  key: string
  product: string
  /** Tokens, always sent to the provider. */
  outputCap: number
  reservedMicro: number
  /**
   * Of a direct call: what its settlement goes by, so that its answer can tell the charge before it is made. Left out by ledgers
   * that do not know it; then the answer tells no cost.
   */
  price?: PriceSnapshot
  routes: Route[]
  supportedParameters: string[]
  /** Of an image or sound that it makes. Left out by ledgers that do not know it. */
  maxOutputBytes?: number
}

/** Decided, with a refusal as the answer: nothing is reserved. */
export type RefusedItem = { kind: 'refused' } & LedgerRefusal

export type AdmitOutcome =
  | Admitted
  /** Answered before; `body` is the saved answer, to be sent unchanged. */
  | { kind: 'replay'; invocation: string; contentType: string; body: string }
  /** The first call under this idempotency key has not ended. */
  | { kind: 'running'; invocation: string }
  | RefusedItem
  /** An item without an instance passed every check that comes before money. Nothing is reserved. */
  | { kind: 'would-admit' }
  /** The ledger does not know the instance, or has declared it dead: register a new one, then ask again. */
  | { kind: 'instance-unknown' }

export type AdmitNodeOutcome =
  | Admitted
  /**
   * Of `ceiling_reached`, `key_limit` and `insufficient_budget` the facts say what other calls have reserved (`reservedMicro`) and what is needed
   * (`neededMicro`): whether it would fit once they end.
   */
  | RefusedItem
  /** The ledger does not know the instance, or has declared it dead: another one claims the node. */
  | { kind: 'instance-unknown' }
  /** The lease is not the current one, the execution has begun to end, or the node's call is charged already. Nothing is reserved. */
  | { kind: 'fenced' }

/**
 * Postgres refuses it again and again, for no business reason: anyone who asked stops. A settlement and a completion are kept by
 * the ledger until they can be written; a release need not be, because its reservation ends by itself (money §4.4).
 */
export interface Quarantined {
  kind: 'quarantined'
}

export type SettleOutcome =
  | { kind: 'settled'; chargedMicro: number }
  /** The reservation had been released: it is a write-off, the answer may still be delivered. */
  | { kind: 'fenced' }
  /** Never admitted, or a node's. */
  | { kind: 'unknown' }
  | Quarantined

export type ReleaseOutcome =
  | { kind: 'released' }
  | { kind: 'settled'; chargedMicro: number }
  /** It is a node's: only the node's `complete` gives it back. */
  | { kind: 'unknown' }
  | Quarantined

/** The item was not decided: its time was up, or there was no room. Nothing happened. */
export interface Undecided {
  kind: 'undecided'
  /** `unknown`: a batch with it was cut off, so it may be written; anyone who asked releases it. */
  why: 'overloaded' | 'unavailable' | 'unknown'
}
