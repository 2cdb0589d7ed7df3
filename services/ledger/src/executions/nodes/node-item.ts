import type { Span } from '@opentelemetry/api'
import type { StoppedBy } from '@gateway/api/execution'
import type { ClaimItem, ClaimOutcome, CompleteItem, CompleteOutcome } from '@gateway/ledger-protocol/flow-items'
import type { Undecided } from '@gateway/ledger-protocol/ledger-outcomes'

// What the node batcher decides: requests of workers, findings of maintenance, and cancels by callers and users.

/** Takes the lease from a node whose instance has ended. */
export interface ReclaimItem {
  op: 'reclaim'
  execution: string
  node: string
  lease: string
  instance: string
}

/** An execution past its deadline. */
export interface OverdueItem {
  op: 'overdue'
  execution: string
}

/** An execution to cancel. */
export interface CancelItem {
  op: 'cancel'
  execution: string
  by: StoppedBy
}

export type NodeItem = ClaimItem | CompleteItem | ReclaimItem | OverdueItem | CancelItem

/** Name that all copies of an item share. */
export function nameOfItem(item: NodeItem): string {
  const { op, execution } = item
  return 'node' in item ? `${op} ${execution} ${item.node} ${item.lease}` : `${op} ${execution}`
}

/** Instance for which an item takes a node; null if it takes none. */
export function takerOf(item: NodeItem): string | null {
  if (item.op === 'claim') return item.instance
  return item.op === 'complete' ? (item.next?.instance ?? item.instance ?? null) : null
}

/** A node under its lease, without what its worker needs to run it. */
export interface Granted {
  ordinal: number
  remainingMs: number
  /** Its lease is not on record (R12 of decide-execution.ts). */
  isUnrecorded?: true
}

/** Outcome of an item. */
export type ItemOutcome =
  | ({ kind: 'claimed' } & Granted)
  | { kind: 'nothing-to-do'; cancelled?: StoppedBy }
  | { kind: 'cancelled' }
  | { kind: 'instance-unknown' }
  | { kind: 'completed'; next?: Granted; ready?: readonly Granted[] }
  | { kind: 'fenced' }

export interface WaitingNode {
  item: NodeItem
  /** Absent if its caller is not traced. */
  span?: Span | undefined
  /** Time by the process's own clock at which the item is dropped undecided. */
  dropAtMs: number
  /** Number of batches that have passed it over. */
  deferrals: number
  /** Read its execution even if it is cached. */
  mustRead: boolean
  /** A batch with this item failed without showing whether it was written. */
  outcomeUnknown: boolean
  /** Project of its execution, once looked up; null if there is none. */
  project?: string | null
  answer: (outcome: ClaimOutcome | CompleteOutcome | Undecided) => void
  /** Answers its copies (L5 of node-batcher.ts). */
  copies?: ((outcome: ClaimOutcome | CompleteOutcome | Undecided) => void)[]
}
