import type { Span } from '@opentelemetry/api'
import type { StoppedBy } from '@gateway/api/execution'
import type { ClaimItem, ClaimOutcome, CompleteItem, CompleteOutcome } from '@gateway/ledger-protocol/flow-items'
import type { Undecided } from '@gateway/ledger-protocol/ledger-outcomes'

// What the node batcher decides: what workers ask, what maintenance finds, and what callers and users stop.

/** A node whose instance has ended: its lease is taken from it. */
export interface ReclaimItem {
  op: 'reclaim'
  execution: string
  node: string
  lease: string
  instance: string
}

/** An execution whose deadline is over. */
export interface OverdueItem {
  op: 'overdue'
  execution: string
}

/** An execution that someone wants to end. */
export interface CancelItem {
  op: 'cancel'
  execution: string
  by: StoppedBy
}

export type NodeItem = ClaimItem | CompleteItem | ReclaimItem | OverdueItem | CancelItem

/** What two copies of one item have in common. */
export function nameOfItem(item: NodeItem): string {
  const { op, execution } = item
  return 'node' in item ? `${op} ${execution} ${item.node} ${item.lease}` : `${op} ${execution}`
}

/** The instance in whose name an item takes a node; null: it takes none. */
export function takerOf(item: NodeItem): string | null {
  if (item.op === 'claim') return item.instance
  return item.op === 'complete' ? (item.next?.instance ?? null) : null
}

/** A node under its lease, before its worker learns what it needs to run. */
export interface Granted {
  ordinal: number
  remainingMs: number
}

/** What became of an item. */
export type ItemOutcome =
  | ({ kind: 'claimed' } & Granted)
  | { kind: 'nothing-to-do'; cancelled?: StoppedBy }
  | { kind: 'cancelled' }
  | { kind: 'instance-unknown' }
  | { kind: 'completed'; next?: Granted }
  | { kind: 'fenced' }

export interface WaitingNode {
  item: NodeItem
  /** Absent where its caller is not traced. */
  span?: Span | undefined
  /** Past this moment (of the process's own clock) the item is dropped undecided. */
  dropAtMs: number
  /** How often a batch has passed it over. */
  deferrals: number
  /** Its execution is read, no matter what is cached of it. */
  mustRead: boolean
  /** A batch with this item failed in a way that leaves open whether it was written. */
  outcomeUnknown: boolean
  /** Of its execution, once it has been looked up; null: there is none. */
  project?: string | null
  answer: (outcome: ClaimOutcome | CompleteOutcome | Undecided) => void
  /** How its copies are answered (L5 of node-batcher.ts). */
  copies?: ((outcome: ClaimOutcome | CompleteOutcome | Undecided) => void)[]
}
