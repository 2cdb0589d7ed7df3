import { callFunction } from '@gateway/database/call-function'
import type { Deps } from '../deps.ts'
import { enqueueAgain } from '../executions/enqueue-jobs.ts'
import { jobsOf, type EnqueuedNode } from '../executions/store/enqueued-nodes.ts'

// The queue may lose what it was given, or have been away. A job that no worker has taken up for a while is enqueued
// again: it is the same job, which the queue drops if it still has it. Nodes that could run and were never enqueued are
// found, too.

interface Limits {
  /** Of one project, in the queue or running. */
  nodesAtOnce: number
  /** How long a worker may take to take a node up. */
  lateMs?: number
}

const LATE_MS = 3_000
const MAX_NODES = 2_000

export async function requeueJobs(
  deps: Pick<Deps, 'reads' | 'nodeQueue' | 'metrics'>,
  { nodesAtOnce, lateMs = LATE_MS }: Limits,
): Promise<{ requeued: number }> {
  const row = await callFunction(deps.reads.sql, 'money.requeue_lost_nodes', {
    nodes_at_once: nodesAtOnce,
    late_ms: lateMs,
    max_late: MAX_NODES,
  })
  const jobs = jobsOf(JSON.parse(row.jobs) as EnqueuedNode[])
  enqueueAgain(deps, jobs)
  return { requeued: jobs.length }
}
