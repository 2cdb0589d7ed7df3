import type { RefusalCode } from './refusal.ts'

// What the ledger answers, an outcome an item. A line of the answer to POST /items is `{ "n": 7, "outcome": … }`.

/** Where the call goes, by priority. Names of origins never leave the service. */
export interface Route {
  origin: string
  model: string
}

export interface Admitted {
  kind: 'admitted'
  /** What the caller knows the call by: the id of its first attempt. */
  invocation: string
  attempt: number
  project: string
  key: string
  product: string
  /** Tokens, always sent to the origin. */
  outputCap: number
  reservedMicro: number
  routes: Route[]
  supportedParameters: string[]
}

export type AdmitOutcome =
  | Admitted
  /** Answered before; `body` is the saved answer, to be sent as it is. */
  | { kind: 'replay'; invocation: string; contentType: string; body: string }
  /** The first call under this idempotency key has not ended. */
  | { kind: 'running'; invocation: string }
  | { kind: 'refused'; code: RefusalCode; facts: Record<string, unknown> }
  /** The holder is not on the books, or was declared dead: register a new one, then ask again. */
  | { kind: 'holder-unknown' }

export type SettleOutcome =
  | { kind: 'settled'; chargedMicro: number }
  /** The reservation had been released: the house pays, the answer may still be delivered. */
  | { kind: 'fenced' }
  | { kind: 'unknown' }

export type ReleaseOutcome = { kind: 'released' } | { kind: 'settled'; chargedMicro: number }

/** The item was not decided: its time was up, or there was no room. Nothing happened. */
export interface Undecided {
  kind: 'undecided'
  /** `unknown`: a batch with it was cut off, so it may be written; whoever asked releases it. */
  why: 'overloaded' | 'unavailable' | 'unknown'
}

export type OutcomeOf<Op extends 'admit' | 'settle' | 'release'> = {
  admit: AdmitOutcome
  settle: SettleOutcome
  release: ReleaseOutcome
}[Op]

export interface OutcomeLine {
  n: number
  outcome: AdmitOutcome | SettleOutcome | ReleaseOutcome | Undecided
}
