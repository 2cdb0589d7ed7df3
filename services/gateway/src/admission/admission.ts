import type { Admitted, AdmitOutcome } from '@gateway/ledger-protocol/ledger-outcomes'
import type { Permit } from '@gateway/service-kit/async/concurrency-limiter'
import type { Place } from '../rates/rates.ts'

/** Outcome of an admission: the upper bound is reserved, or a saved response is replayed. */
export type Admission = AdmittedCall | Replay

export interface AdmittedCall extends Admitted {
  /** ID of this attempt's reservation. For a first attempt it is also the invocation ID. */
  reservation: string
  /** Of the call within its rate limits. */
  place: Place
}
export type Replay = Extract<AdmitOutcome, { kind: 'replay' }>
export type Running = Extract<AdmitOutcome, { kind: 'running' }>

/** The caller of an open request. */
export interface Caller {
  /** Aborts if they disconnect before they have the full response. */
  disconnected: AbortSignal
  permit: Pick<Permit, 'onRelease'>
}
