import type { StartQuestion } from '@gateway/ledger-protocol/flow-reads'
import { callFunction } from '@gateway/database/call-function'
import type { Database } from '@gateway/database/client'
import type { NodeState } from '@gateway/flow/advance'
import type { NodeJob } from '@gateway/node-queue/node-job'

/** An execution at its start; the row type is money.execution_start. */
export interface ExecutionStart extends Pick<StartQuestion, 'id' | 'sandbox' | 'surface' | 'trace'> {
  project: string
  revision: number
  /** Of its package. */
  digest: string | null
  /** Of the key that starts it; null: a user starts it. */
  key: string | null
  lineage: string | null
  userId: string | null
  /** Of its calls. */
  tag: string | null
  maxMicro: number | null
  /** The scope of its idempotency key within the project. */
  scope: string
  idempotencyKey: string | null
  fingerprint: string | null
  /** Maximum wait for the first claim of a node. */
  firstClaimMs: number
  status: 'Admitted' | 'Succeeded'
  /** The number of its last progress line. */
  seq: number
  /** The execution whose results it reuses, and the ordinal of that execution's node whose result is its output. */
  rerunOf?: string
  output?: number | null
  nodes: NodeStart[]
}

/** A node at the start of its execution; the row type is money.node_start. */
export interface NodeStart {
  ordinal: number
  node: string
  kind: string
  /** Ordinals. */
  sources: number[]
  state: NodeState['state']
  /** The number of its progress line; null: it has none. */
  seq: number | null
  /** Both JSON text. */
  ports?: string | null
  output?: string | null
  /** Ordinal of the node of `rerunOf` whose result it reuses. */
  earlier?: number | null
  takenOver?: boolean
}

/**
 * Starts executions in one round trip and marks their ready nodes as enqueued. Returns the jobs to enqueue and the ids
 * of the started executions; the idempotency key or the id of the others was taken meanwhile.
 */
export async function beginExecutions(
  { sql }: Pick<Database, 'sql'>,
  starts: readonly ExecutionStart[],
  { maxConcurrentNodes }: { maxConcurrentNodes: number },
): Promise<{ started: ReadonlySet<string>; jobs: NodeJob[] }> {
  const row = await callFunction(sql, 'money.write_starts', {
    max_concurrent_nodes: maxConcurrentNodes,
    executions: starts,
    nodes: starts.flatMap(({ id, nodes }) => nodes.map((node) => ({ execution: id, ...node }))),
  })
  return {
    started: new Set(row.started),
    jobs: row.jobs === null ? [] : jobsOf(JSON.parse(row.jobs) as EnqueuedNode[]),
  }
}

/** A node to be enqueued, as money.enqueue_ready_nodes returns it. */
export type EnqueuedNode = [
  execution: string,
  node: string,
  attempt: number,
  traceparent: string | null,
  tracestate: string | null,
]

export function jobsOf(nodes: readonly EnqueuedNode[]): NodeJob[] {
  return nodes.map(([execution, node, attempt, traceparent, tracestate]) => ({
    execution,
    node,
    attempt,
    ...(traceparent !== null && { trace: { traceparent, ...(tracestate !== null && { tracestate }) } }),
  }))
}
