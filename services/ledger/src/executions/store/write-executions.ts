import { randomInt } from 'node:crypto'
import { callFunction } from '@gateway/database/call-function'
import type { Sql, Database } from '@gateway/database/client'
import type { NodeJob } from '@gateway/node-queue/node-job'
import type { ExecutionChange } from './read-executions.ts'
import type { CompleteItem } from '@gateway/ledger-protocol/flow-items'
import type { Deps } from '../../deps.ts'
import { timingColumns } from '../../admissions/run-batch.ts'
import type { Excess } from '../../metrics.ts'
import type { StartQuestion } from '@gateway/ledger-protocol/flow-reads'
import type { NodeState } from '@gateway/flow/advance'

export interface WrittenExecutions {
  /**
   * Written changes with their new versions. The others have changed since they were read, are locked, or relied on an
   * instance that was assumed alive and has ended.
   */
  written: Map<ExecutionChange, number>
  jobs: NodeJob[]
  excesses: Excess[]
  /** Number of answers whose reservations had ended. */
  fenced: number
  /** Calls that were admitted and given up without a known end: their providers may have served them. */
  perhapsCalled: number
  /** Charge of each closed reservation, in micro-USD. */
  charged: Map<string, number>
}

interface How {
  /** Wait for executions and wallets that others have locked. */
  waitForLocks: boolean
  maxConcurrentNodes: number
  /** Instances that were not looked up: if one of them has ended, nothing is written. */
  assumedAlive: ReadonlySet<string>
}

/**
 * A version is never reused, not even after a crash that lost the last claims (F6 of write_executions): the state that
 * another replica, or the database before the crash, gave an execution is never taken for the one in this cache.
 */
const MAX_STEP = 4_096

/** Writes the decisions on executions in one round trip, and enqueues the nodes that may run next. */
export async function writeExecutions(
  sql: Sql,
  changes: readonly ExecutionChange[],
  how: How,
): Promise<WrittenExecutions> {
  const closings = changes.flatMap(({ execution, closings }) =>
    closings.map((closing) => ({ execution: execution.id, ...closing })),
  )
  const versions = new Map(
    changes.map(({ execution: { id, version } }) => [id, version + randomInt(1, MAX_STEP)] as const),
  )
  const row = await callFunction(sql, 'money.write_executions', {
    wait_for_locks: how.waitForLocks,
    max_concurrent_nodes: how.maxConcurrentNodes,
    instances: [...how.assumedAlive],
    changes: changes.map((change) => {
      const { id, project, version } = change.execution
      return { ...change, execution: null, id, project, version, nextVersion: versions.get(id) }
    }),
    nodes: changes.flatMap(({ execution, nodes }) =>
      [...nodes].map(([ordinal, node]) => ({
        execution: execution.id,
        ordinal,
        ...node,
        ports: node.state === 'Succeeded' ? JSON.stringify(node.ports) : null,
      })),
    ),
    to_close: closings.map(({ execution, reservation, usage, timing, costPico, reason }) => ({
      id: reservation,
      execution,
      ...(usage ? { op: 'settle', usage, costPico } : { op: 'release', reason }),
      ...timingColumns(timing),
    })),
  })
  const written = new Set(row.written)
  const made = closings.filter(({ execution }) => written.has(execution))
  const { outcome, charged, excess } = readClosings(row.closings)
  return {
    written: new Map(
      changes.flatMap((change) =>
        written.has(change.execution.id) ? [[change, versions.get(change.execution.id)!] as const] : [],
      ),
    ),
    jobs: row.jobs === null ? [] : jobsOf(JSON.parse(row.jobs) as EnqueuedNode[]),
    excesses: made.flatMap(({ reservation }, n) => (excess[n] ? [{ reservation, micro: excess[n] }] : [])),
    fenced: outcome.filter((name) => name === 'fenced').length,
    perhapsCalled: made.filter(({ perhapsCalled }, n) => perhapsCalled && outcome[n] === 'released').length,
    charged: new Map(made.map(({ reservation }, n) => [reservation, charged[n] ?? 0])),
  }
}

/** Each field is a list in the order of the closings. */
interface Closings {
  outcome: string[]
  charged: number[]
  excess: number[]
}

function readClosings(text: string | null): Closings {
  return text === null ? { outcome: [], charged: [], excess: [] } : (JSON.parse(text) as Closings)
}

/** A completion under a lost lease, of a call that was made: it cost something, and no one is charged. */
type Served = CompleteItem & { reservation: string; usage: NonNullable<CompleteItem['usage']> }

/** Writes off what the calls of fenced completions have used (money §4.3). Repeated completions add nothing. */
export async function writeOffFenced(
  { metrics }: Pick<Deps, 'metrics'>,
  sql: Sql,
  completions: readonly CompleteItem[],
): Promise<void> {
  const served = completions.filter(isServed)
  if (served.length === 0) return
  const { written } = await callFunction(sql, 'money.write_off_fenced', {
    answers: served.map(({ reservation, execution, usage }) => ({ id: reservation, execution, usage })),
  })
  for (let n = 0; n < written; n++) metrics.fenced()
}

function isServed(item: CompleteItem): item is Served {
  return item.usage !== null && typeof item.reservation === 'string'
}

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
  tracestate: string | null, // of executions of an older release; dropped
]

export function jobsOf(nodes: readonly EnqueuedNode[]): NodeJob[] {
  return nodes.map(([execution, node, attempt, traceparent]) => ({
    execution,
    node,
    attempt,
    ...(traceparent !== null && { trace: { traceparent } }),
  }))
}
