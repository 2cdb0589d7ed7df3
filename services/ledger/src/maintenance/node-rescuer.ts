import type { Database } from '@gateway/database/client'
import type { NodeBatcher } from '../executions/nodes/node-batcher.ts'
import type { Metrics } from '../metrics.ts'

// A node whose instance has ended is taken back, as an ordinary item of the node batcher: its hold is released, and it may be claimed again.

interface Deps {
  database: Pick<Database, 'prisma'>
  lane: NodeBatcher
  metrics?: Pick<Metrics, 'reclaimed'>
}

const AT_ONCE = 2_000
const BUDGET_MS = 10_000

export function reclaimNodes({ database: { prisma }, lane, metrics }: Deps): () => Promise<void> {
  return async () => {
    const rows = await prisma.$queryRaw<{ execution: string; node: string; lease: string; instance: string }[]>`
      SELECT n.execution, n.node, n.lease, n.instance FROM money.execution_nodes n
       WHERE n.state = 'Running' AND NOT EXISTS (SELECT FROM money.instances h WHERE h.id = n.instance AND h.ended_at IS NULL)
       LIMIT ${AT_ONCE}::int`
    if (rows.length > 0) metrics?.reclaimed(rows.length)
    await Promise.all(rows.map((row) => lane.submit({ op: 'reclaim', ...row }, BUDGET_MS)))
  }
}
