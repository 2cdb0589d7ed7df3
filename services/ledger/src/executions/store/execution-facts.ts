import type { StoppedBy, ExecutionStatus } from '@gateway/api/execution'
import type { CompleteItem } from '@gateway/ledger-protocol/flow-items'
import type { Usage } from '@gateway/pricing/usage'

// The state of an execution and its nodes that decisions are made from. Nodes are in the order of the graph.

export type NodeStateName = 'Pending' | 'Ready' | 'Running' | 'Succeeded' | 'Failed' | 'Skipped'

export interface NodeFacts {
  state: NodeStateName
  attempt: number
  /** Number of leases that ended because their instance did. */
  deaths: number
  /** Of the current attempt, or of the one that ended the node. */
  lease: string | null
  instance: string | null
  /** The invocation of its paid call, fixed at its first claim. */
  call: string | null
  /** Of the current attempt, or of the one that ended the node. */
  reservation: string | null
  /** Output ports that have a value. */
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
  /** Its error is set, so no more nodes start. */
  failing: boolean
  /** Who stopped it; it then ends as Cancelled. null: it was not stopped. */
  stoppedBy: StoppedBy | null
  /** Unix milliseconds. */
  deadlineMs: number
  nodes: NodeFacts[]
}

/** Returns whether the status is final. */
export function hasEnded({ status }: { status: ExecutionStatus }): boolean {
  return status !== 'Admitted' && status !== 'Running'
}

/** An execution as written at its start. */
export interface BegunExecution extends Omit<ExecutionFacts, 'deadlineMs'> {
  /** From its start. */
  deadlineInMs: number
  /** Output of its input node: JSON text by ordinal. */
  outputs: ReadonlyMap<number, string>
}

/** A node to be written, with the fields that only an ended node has. */
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
  timing: CompleteItem['timing']
  costPico: CompleteItem['costPico']
  reason: string
  /** Its worker never reported how the call ended: the provider may have served it. */
  perhapsCalled: boolean
}

/** Decided changes of an execution, written only if it has not changed since it was read. */
export interface ExecutionChange {
  execution: ExecutionFacts
  status: ExecutionStatus
  seq: number
  /** JSON text; null: unchanged. */
  error: string | null
  output: string | null
  /** Whether this is the first claim of one of its nodes. */
  started: boolean
  /** From now; null: unchanged. */
  deadlineInMs: number | null
  /** By ordinal. */
  nodes: Map<number, NodeChange>
  closings: Closing[]
  /** null: it was not stopped. */
  stoppedBy: StoppedBy | null
  /** It has started to fail, and running nodes are to be aborted. */
  ending: boolean
  /** Its nodes wait for a place in the queue, or it has freed places for others. */
  enqueues: boolean
}
