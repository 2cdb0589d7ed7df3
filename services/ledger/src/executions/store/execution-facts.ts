import type { StoppedBy, ExecutionStatus } from '@gateway/api/execution'
import type { CompleteItem } from '@gateway/ledger-protocol/flow-items'
import type { Usage } from '@gateway/pricing/usage'

// What is known of an execution and its nodes when something is decided about it. Nodes are in the order of the graph.

export type NodeStateName = 'Pending' | 'Ready' | 'Running' | 'Succeeded' | 'Failed' | 'Skipped'

export interface NodeFacts {
  state: NodeStateName
  attempt: number
  /** Leases that ended because their instance did. */
  deaths: number
  /** Of the attempt under way, or of the one that ended the node. */
  lease: string | null
  instance: string | null
  /** The invocation of its paid call, fixed at its first claim. */
  call: string | null
  /** Of the attempt under way, or of the one that ended the node. */
  reservation: string | null
  /** That have a value. */
  ports: string[]
}

export interface ExecutionFacts {
  id: string
  project: string
  sandbox: string
  revision: number
  /** Of its package; null: the package that was saved with its revision. */
  digest: string | null
  status: ExecutionStatus
  seq: number
  /** Of the execution and its nodes together. */
  version: number
  /** Its error is set: no node begins anymore. */
  failing: boolean
  /** Its error is that it was stopped, by whom it says: it ends as Cancelled. */
  stoppedBy: StoppedBy | null
  /** Unix milliseconds. */
  deadlineMs: number
  nodes: NodeFacts[]
}

/** Nothing comes after it. */
export function hasEnded({ status }: { status: ExecutionStatus }): boolean {
  return status !== 'Admitted' && status !== 'Running'
}

/** An execution as it was written when it began. */
export interface BegunExecution extends Omit<ExecutionFacts, 'deadlineMs'> {
  /** From the moment at which it began. */
  deadlineInMs: number
  /** Of its input node: JSON text by ordinal. */
  outputs: ReadonlyMap<number, string>
}

/** A node as it is to be written, with what only a node that has ended has. */
export interface NodeChange extends NodeFacts {
  seq: number | null
  /** JSON text. */
  output: string | null
  /** JSON text of a RefusalBody. */
  error: string | null
  measured: CompleteItem['measured'] | null
}

export interface Closing {
  reservation: string
  /** null: released. */
  usage: Usage | null
  reason: string
  /** Its worker never said how its call ended: the provider may have served it. */
  perhapsCalled: boolean
}

/** What was decided of an execution, to be written if it still is as it was read. */
export interface ExecutionChange {
  execution: ExecutionFacts
  status: ExecutionStatus
  seq: number
  /** JSON text; null: unchanged. */
  error: string | null
  output: string | null
  /** This is the first claim of a node. */
  started: boolean
  /** From now; null: unchanged. */
  deadlineInMs: number | null
  /** By ordinal. */
  nodes: Map<number, NodeChange>
  closings: Closing[]
  /** null: it was not. */
  stoppedBy: StoppedBy | null
  /** It has begun to fail, and nodes of it still run: they are to be aborted. */
  ending: boolean
  /** Nodes of it wait for a place in the queue, or it has left places to others. */
  enqueues: boolean
}
