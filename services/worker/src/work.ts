import type { StoppedBy } from '@gateway/api/execution'
import type { Claimed, ClaimItem, CompleteItem, NodeLease } from '@gateway/ledger-protocol/flow-items'

// What the worker says of a node on its way from the claim to the record.

/** A lease and the instance in whose name it was taken. */
export type Lease = NodeLease & Pick<ClaimItem, 'instance'>

/** What there is to be done, and under which lease. */
export interface Work {
  claim: Claimed
  lease: Lease
}

/** What work on a node came to. */
export interface Performed {
  result: CompleteItem['result']
  /** null: nothing is charged. */
  usage: CompleteItem['usage']
  /** What the provider took, in milliseconds; null where none was called. */
  remoteMs: number | null
}

/**
 * Why work on a node was cancelled before it was done.
 * `overdue`: the execution's time is over. `execution-ending`: the execution fails, or the lease is another's. `execution-stopped`:
 * someone stopped the execution. `stopping`: this worker stops.
 */
export type CancelReason = 'overdue' | 'execution-ending' | 'execution-stopped' | 'stopping'

export class WorkCancelled extends Error {
  readonly reason: CancelReason
  /** Who stopped the execution. */
  readonly by: StoppedBy | null

  constructor(reason: CancelReason, by: StoppedBy | null = null) {
    super(`the work was cancelled: ${reason}`)
    this.reason = reason
    this.by = by
  }
}

export interface Cancellation {
  /** Aborts with a `WorkCancelled`. */
  signal: AbortSignal
  /** From now on it matters whether the execution fails. */
  watchExecution(): void
}

/** The lease is no longer ours, or the execution has begun to fail (`fenced`), or this process was declared dead. */
export class LeaseLost extends Error {
  readonly reason: 'fenced' | 'instance-unknown'

  constructor(reason: LeaseLost['reason']) {
    super(`the lease was lost: ${reason}`)
    this.reason = reason
  }
}
