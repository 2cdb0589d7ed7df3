import type { Admitted, AdmitOutcome } from '@gateway/ledger-protocol/ledger-outcomes'
import type { Permit } from './limits.ts'

/** What a call has come to: its upper bound is reserved, or it was answered before. */
export type Admission = AdmittedCall | Replay

export interface AdmittedCall extends Admitted {
  /** Id of the reservation of this attempt; that of a first attempt is the invocation's id too. */
  reservation: string
}
export type Replay = Extract<AdmitOutcome, { kind: 'replay' }>
export type Running = Extract<AdmitOutcome, { kind: 'running' }>

/** The caller while their request is under way. */
export interface Caller {
  /** Aborts when they leave before they have their answer. */
  disconnected: AbortSignal
  permit: Pick<Permit, 'attributeTo' | 'onRelease'>
}
