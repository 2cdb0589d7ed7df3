import type { ServerResponse } from 'node:http'
import type { Id } from '@gateway/api/ids'
import type { Admitted, AdmitOutcome } from '@gateway/ledger-protocol/ledger-outcomes'
import type { Permit } from '@gateway/service-kit/http/caller-permits'
import { requestIdOf } from '@gateway/service-kit/http/preamble'
import { disconnectSignal } from '@gateway/service-kit/http/read-body'
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
  /** The `X-Request-Id` of the answer. */
  requestId: Id<'req'>
  /** Aborts if they disconnect before they have the full response. */
  disconnected: AbortSignal
  permit: Pick<Permit, 'onRelease'>
}

/** @param res of a request that has its id (preamble.ts) */
export function callerOf(res: ServerResponse): Pick<Caller, 'requestId' | 'disconnected'> {
  return { requestId: requestIdOf(res)!, disconnected: disconnectSignal(res) }
}
