import { callFunction } from '@gateway/database/call-function'
import type { Database } from '@gateway/database/client'
import { jobsOf, type EnqueuedNode } from '../flows/enqueued-nodes.ts'
import type { Tell } from '../flows/tell.ts'

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
    const { jobs } = await callFunction(prisma, 'money.requeue_lost_nodes_v1', {
      nodes_at_once: nodesAtOnce,
      late_ms: lateMs,
      max_late: AT_ONCE,
    })
    tell.changed([], jobsOf(JSON.parse(jobs) as EnqueuedNode[]))
  }
}
