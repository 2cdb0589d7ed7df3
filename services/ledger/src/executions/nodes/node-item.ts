import type { ClaimItem, CompleteItem } from '@gateway/contracts/flow-items'

// What the node batcher decides: what workers ask, and what maintenance finds.

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

export type NodeItem = ClaimItem | CompleteItem | ReclaimItem | OverdueItem

/** What became of an item, before a claim is given what it needs to run. */
export type ItemOutcome =
  | { kind: 'claimed'; ordinal: number; remainingMs: number }
  | { kind: 'nothing-to-do' }
  | { kind: 'instance-unknown' }
  | { kind: 'completed' }
  | { kind: 'fenced' }
