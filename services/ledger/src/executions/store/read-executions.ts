import { callFunction } from '@gateway/database/call-function'
import type { Sql } from '@gateway/database/client'
import { takerOf, type NodeItem } from '../nodes/node-item.ts'
import type { StoppedBy, ExecutionStatus } from '@gateway/api/execution'
import type { CompleteItem } from '@gateway/ledger-protocol/flow-items'
import type { Usage } from '@gateway/pricing/usage'

export interface ExecutionsReading {
  /** By id. An execution that does not exist is missing. */
  executions: Map<string, ExecutionFacts>
  alive: Set<string>
  /** Outputs of the sources of each claim, as JSON text by ordinal. */
  sourcesOf: Map<NodeItem, Map<number, string>>
  /** Unix milliseconds, by the database's clock. */
  nowMs: number
}

type ExecutionColumns = [
  id: string,
  project: string,
  sandbox: string,
  revision: number,
  status: ExecutionFacts['status'],
  seq: number,
  version: number,
  failing: boolean,
  deadlineMs: number,
  nodes: NodeColumns[],
  digest: string | null,
  stoppedBy: ExecutionFacts['stoppedBy'],
]
type NodeColumns = [
  state: NodeStateName,
  attempt: number,
  deaths: number,
  lease: string | null,
  instance: string | null,
  call: string | null,
  reservation: string | null,
  ports: string | null,
]

/**
 * Reads the current executions of these items, and what the claims among them need to run (F1 of write_executions).
 * @param others instances in addition to theirs
 */
export async function readExecutions(
  sql: Sql,
  items: readonly NodeItem[],
  others: readonly string[] = [],
): Promise<ExecutionsReading> {
  const claims = items.filter((item) => item.op === 'claim')
  const instances = items.flatMap((item) => (item.op === 'reclaim' ? item.instance : (takerOf(item) ?? [])))
  const row = await callFunction(sql, 'money.read_executions', {
    ids: [...new Set(items.map(({ execution }) => execution))],
    instances: [...new Set([...instances, ...others])],
    c_execution: claims.map(({ execution }) => execution),
    c_node: claims.map(({ node }) => node),
  })
  const sourcesOf = new Map<NodeItem, Map<number, string>>(claims.map((claim) => [claim, new Map()]))
  row.s_claim?.forEach((claim, n) => {
    sourcesOf.get(claims[claim - 1]!)!.set(row.s_ordinal![n]!, Buffer.from(row.s_output![n]!).toString())
  })
  const executions = row.executions === null ? [] : (JSON.parse(row.executions) as ExecutionColumns[]).map(executionOf)
  return {
    executions: new Map(executions.map((execution) => [execution.id, execution])),
    alive: new Set(row.live_instances),
    sourcesOf,
    nowMs: Number(row.at_ms),
  }
}

function executionOf(columns: ExecutionColumns): ExecutionFacts {
  const [id, project, sandbox, revision, status, seq, version, failing, deadlineMs, nodes, digest, stoppedBy] = columns
  const facts = { id, project, sandbox, revision, digest, status, seq, version, failing, deadlineMs, stoppedBy }
  return { ...facts, nodes: nodes.map(nodeOf) }
}

function nodeOf([state, attempt, deaths, lease, instance, call, reservation, ports]: NodeColumns): NodeFacts {
  const withValue = ports === null ? [] : (JSON.parse(ports) as string[])
  return { state, attempt, deaths, lease, instance, call, reservation, ports: withValue }
}

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
