import type { Deps } from '../deps.ts'
import { enqueueAgain, notifyEnding } from '../executions/announce.ts'
import { callFunction } from '@gateway/database/call-function'
import { type EnqueuedNode, jobsOf } from '../executions/store/begin-executions.ts'

// The lease of a node whose instance has ended is taken from it, by an ordinary item of the node batcher: its
// reservation is released, and it may be claimed again. One whose completion is kept because it could not be written has
// its result already (K2 of quarantine/kept-items.ts).

const MAX_NODES = 2_000
const BUDGET_MS = 10_000

export async function rescueNodes({
  reads,
  nodeBatcher,
  metrics,
}: Pick<Deps, 'reads' | 'nodeBatcher' | 'metrics'>): Promise<{ rescued: number }> {
  const rows = await reads.prisma.$queryRaw<{ execution: string; node: string; lease: string; instance: string }[]>`
    SELECT n.execution, n.node, n.lease, n.instance FROM money.execution_nodes n
     WHERE n.state = 'Running' AND NOT EXISTS (SELECT FROM money.instances i WHERE i.id = n.instance AND i.ended_at IS NULL)
       AND NOT EXISTS (
             SELECT FROM money.quarantined_items s WHERE s.name = n.execution || ' ' || n.node || ' ' || n.lease)
     LIMIT ${MAX_NODES}::int`
  if (rows.length > 0) metrics.reclaimed(rows.length)
  await Promise.all(rows.map((row) => nodeBatcher.submit({ op: 'reclaim', ...row }, BUDGET_MS)))
  return { rescued: rows.length }
}

// Executions past their deadline begin to fail. Workers of those that are failing are notified again, because the first
// notification may have been lost.

const MAX_EXECUTIONS = 2_000

export async function enforceDeadlines({
  reads: { prisma },
  nodeBatcher,
  notifier,
}: Pick<Deps, 'reads' | 'nodeBatcher' | 'notifier'>): Promise<{ overdue: number }> {
  const overdue = await prisma.$queryRaw<{ id: string }[]>`
    SELECT id FROM money.executions WHERE completed_at IS NULL AND deadline_at <= (SELECT clock_timestamp())
     ORDER BY deadline_at LIMIT ${MAX_EXECUTIONS}::int`
  await Promise.all(overdue.map(({ id }) => nodeBatcher.submit({ op: 'overdue', execution: id }, BUDGET_MS)))
  const ending = await prisma.$queryRaw<{ id: string }[]>`
    SELECT id FROM money.executions WHERE completed_at IS NULL AND error IS NOT NULL LIMIT ${MAX_EXECUTIONS}::int`
  for (const { id } of ending) notifyEnding({ notifier }, id)
  return { overdue: overdue.length }
}

// The queue may lose what it was given, or have been away. A job that no worker has taken up for a while is enqueued
// again: it is the same job, which the queue drops if it still has it. Nodes that could run and were never enqueued are
// found, too.

interface Limits {
  /** Of one project, in the queue or running. */
  maxConcurrentNodes: number
  /** How long a worker may take to take a node up. */
  lateMs?: number
}

const LATE_MS = 3_000

export async function requeueJobs(
  deps: Pick<Deps, 'reads' | 'nodeQueue' | 'metrics'>,
  { maxConcurrentNodes, lateMs = LATE_MS }: Limits,
): Promise<{ requeued: number }> {
  const row = await callFunction(deps.reads.sql, 'money.requeue_lost_nodes', {
    max_concurrent_nodes: maxConcurrentNodes,
    late_ms: lateMs,
    max_late: MAX_NODES,
  })
  const jobs = jobsOf(JSON.parse(row.jobs) as EnqueuedNode[])
  enqueueAgain(deps, jobs)
  return { requeued: jobs.length }
}
