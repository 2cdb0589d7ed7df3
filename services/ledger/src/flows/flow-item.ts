import type { ClaimItem, CompleteItem } from '@gateway/contracts/flow-items'

// What the flow lane decides: what workers ask, and what keepers find.

/** A node whose holder has ended: its lease is taken back. */
export interface ReclaimItem {
  op: 'reclaim'
  execution: string
  node: string
  lease: string
  holder: string
}

/** A run whose deadline is over. */
export interface OverdueItem {
  op: 'overdue'
  execution: string
}

export type FlowItem = ClaimItem | CompleteItem | ReclaimItem | OverdueItem

/** What became of an item, before a claim is given what it needs to run. */
export type ItemOutcome =
  | { kind: 'claimed'; ordinal: number; remainingMs: number }
  | { kind: 'nothing-to-do' }
  | { kind: 'holder-unknown' }
  | { kind: 'completed' }
  | { kind: 'fenced' }
