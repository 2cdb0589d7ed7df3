import type { StoppedBy } from '@gateway/api/execution'
import type { Claimed, ClaimItem, CompleteItem, NodeLease } from '@gateway/ledger-protocol/flow-items'

// Types of a node's work, from claim to record.

/** Lease and the instance that holds it. */
export type Lease = NodeLease & Pick<ClaimItem, 'instance'>

/** Claimed node and its lease. */
export interface Work {
  claim: Claimed
  lease: Lease
}

/** Result of the work on a node. */
export interface Performed {
  result: CompleteItem['result']
  /** null: nothing is charged. */
  usage: CompleteItem['usage']
  /** Time the provider took, in milliseconds; null if none was called. */
  remoteMs: number | null
  /** Of the call; absent if none was made. */
  timing?: CompleteItem['timing']
  /** Of the provider; absent if it is unknown. */
  costPico?: CompleteItem['costPico']
}

/**
 * Why the work on a node was cancelled.
 * `overdue`: the deadline of the execution has passed. `execution-ending`: the execution is failing, or another worker
 * has the lease. `execution-stopped`: a user or key cancelled the execution. `stopping`: this worker stops.
 */
export type CancelReason = 'overdue' | 'execution-ending' | 'execution-stopped' | 'stopping'

export class WorkCancelled extends Error {
  readonly reason: CancelReason
  /** Who cancelled the execution. */
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
  /** Starts watching whether the execution fails. */
  watchExecution(): void
}

/** This worker no longer has the lease or the execution is failing (`fenced`), or this process was declared dead. */
export class LeaseLost extends Error {
  readonly reason: 'fenced' | 'instance-unknown'

  constructor(reason: LeaseLost['reason']) {
    super(`the lease was lost: ${reason}`)
    this.reason = reason
  }
}
