import type { Deps } from '../deps.ts'
import { enqueueAgain, notifyEnding } from '../executions/announce.ts'
import { callFunction } from '@gateway/database/call-function'
import { type EnqueuedNode, jobsOf } from '../executions/store/write-executions.ts'

// Reclaims nodes whose instance has ended, through an ordinary item of the node batcher: the reservation is released
// and the node may be claimed again. A node whose completion is quarantined is skipped, because it already has its
// result (K2 of quarantine/kept-items.ts).

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

// Makes executions past their deadline start to fail, then ends their running nodes. A failing execution with a
// quarantined completion is skipped: ending its node would release what the completion is to charge (K2 of
// quarantine/kept-items.ts). Notifies the workers of failing executions again, because the first notification may have
// been lost.

const MAX_EXECUTIONS = 2_000

export async function enforceDeadlines({
  reads: { prisma },
  nodeBatcher,
  notifier,
}: Pick<Deps, 'reads' | 'nodeBatcher' | 'notifier'>): Promise<{ overdue: number }> {
  const overdue = await prisma.$queryRaw<{ id: string }[]>`
    SELECT id FROM money.executions
     WHERE completed_at IS NULL AND deadline_at <= (SELECT clock_timestamp())
       -- The names of its kept completions begin with its ID and a space.
       AND (error IS NULL OR id NOT IN (SELECT split_part(name, ' ', 1) FROM money.quarantined_items))
     ORDER BY deadline_at LIMIT ${MAX_EXECUTIONS}::int`
  await Promise.all(overdue.map(({ id }) => nodeBatcher.submit({ op: 'overdue', execution: id }, BUDGET_MS)))
  const ending = await prisma.$queryRaw<{ id: string }[]>`
    SELECT id FROM money.executions WHERE completed_at IS NULL AND error IS NOT NULL LIMIT ${MAX_EXECUTIONS}::int`
  for (const { id } of ending) notifyEnding({ notifier }, id)
  return { overdue: overdue.length }
}

// The queue may lose jobs or be down. A job that no worker has claimed for a while is enqueued again; it is the same
// job, so the queue drops it if it still has it. Ready nodes that were never enqueued are found too.

interface Limits {
  /** Per project, queued or running. */
  maxConcurrentNodes: number
  /** Time after which an unclaimed job counts as lost. */
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
