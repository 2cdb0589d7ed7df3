import type { Database } from '@gateway/database/client'
import { jobsOf, type EnqueuedNode } from '../executions/store/enqueued-nodes.ts'
import type { Tell } from '../executions/notify-changes.ts'

// The queue may lose what it was given, or have been away. What no worker has taken up for a while is requeued: the same job, which
// the queue drops if it still has it. Also found is what could run and was never enqueued.

interface Deps {
  database: Pick<Database, 'prisma'>
  tell: Tell
  nodesAtOnce: number
  /** How long a worker may take to take a node up. */
  lateMs?: number
}

const LATE_MS = 3_000
const AT_ONCE = 2_000

export function requeueLostJobs({
  database: { prisma },
  tell,
  nodesAtOnce,
  lateMs = LATE_MS,
}: Deps): () => Promise<void> {
  return async () => {
    const [row] = await prisma.$queryRaw<[{ rung: string }]>`
      SELECT money.requeue_lost_nodes_v1(${nodesAtOnce}::int, ${lateMs}::int, ${AT_ONCE}::int)::text AS rung`
    tell.changed([], jobsOf(JSON.parse(row.rung) as EnqueuedNode[]))
  }
}
