import type { LedgerRefusal } from './ledger-refusal.ts'
import type { PriceSnapshot } from '@gateway/pricing/usage'

// The ledger's outcomes of admissions and of the items that end them, one per item (ledger-items.ts).

/** Where the call goes, by priority. Names of providers never leave the service. */
export interface Route {
  provider: string
  model: string
  /** What the provider charges; absent if it is unknown. Ledgers that do not know it leave it out. */
  cost?: PriceSnapshot
}

export interface Admitted {
  kind: 'admitted'
  /** Id by which the caller knows the call: the id of its first attempt, or a node's `callId`. */
  invocation: string
  attempt: number
  project: string
  /** Empty if a user started it in the console. */
  key: string
  product: string
  /** Tokens, always sent to the provider. */
  outputCap: number
  reservedMicro: number
  /**
   * For a direct call, the price its settlement will use, so that its response can state the charge before it is made.
   * Ledgers that do not know it leave it out; then the response states no cost.
   */
  price?: PriceSnapshot
  /**
   * Proof of what was admitted, for a direct call without an idempotency key: its admission is not on disk yet. It is
   * opaque, and sent back with the settlement. Ledgers that do not know it leave it out.
   */
  receipt?: string
  routes: Route[]
  supportedParameters: string[]
  /** For image or audio output. Ledgers that do not know it leave it out. */
  maxOutputBytes?: number
}

/** Decided as refused: nothing is reserved. */
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
  /** The ledger does not know the instance, or has declared it dead: register a new one, then retry. */
  | { kind: 'instance-unknown' }

export type AdmitNodeOutcome =
  | Admitted
  /**
   * The facts of `ceiling_reached`, `key_limit` and `insufficient_budget` include what other calls have reserved
   * (`reservedMicro`) and what is needed (`neededMicro`): whether it would fit once they end.
   */
  | RefusedItem
  /** The ledger does not know the instance, or has declared it dead: another one claims the node. */
  | { kind: 'instance-unknown' }
  /** The lease is not the current one, the execution is ending, or the node's call was charged. Nothing is reserved. */
  | { kind: 'fenced' }

/**
 * Postgres repeatedly refuses it, for no business reason: the caller stops. The ledger keeps a settlement or a
 * completion until it can be written; it need not keep a release, because the reservation ends by itself (money §4.4).
 */
export interface Quarantined {
  kind: 'quarantined'
}

export type SettleOutcome =
  | { kind: 'settled'; chargedMicro: number }
  /** The reservation had been released: the usage is written off, and the answer may still be delivered. */
  | { kind: 'fenced' }
  /** Never admitted, or a node's; or the reservation was lost, and the settlement has no valid receipt. */
  | { kind: 'unknown' }
  | Quarantined

export type ReleaseOutcome =
  | { kind: 'released' }
  | { kind: 'settled'; chargedMicro: number }
  /** It is a node's: only the node's `complete` releases it. */
  | { kind: 'unknown' }
  | Quarantined

/** The item was not decided: its time was up, or there was no room. Nothing happened. */
export interface Undecided {
  kind: 'undecided'
  /** `unknown`: a batch with it was cut off, so it may be written; the caller releases it. */
  why: 'overloaded' | 'unavailable' | 'unknown'
}
