import type { Database } from '@gateway/database/client'
import type { FlowLane } from '../flows/flow-lane.ts'
import type { Measures } from '../measures.ts'

// A node whose holder has ended is taken back, as an ordinary item of the flow lane: its hold is released, and it may be claimed again.

interface Needs {
  database: Pick<Database, 'prisma'>
  lane: FlowLane
  measures?: Pick<Measures, 'reclaimed'>
}

const AT_ONCE = 2_000
const BUDGET_MS = 10_000

export function reclaimNodes({ database: { prisma }, lane, measures }: Needs): () => Promise<void> {
  return async () => {
    const rows = await prisma.$queryRaw<{ execution: string; node: string; lease: string; holder: string }[]>`
      SELECT n.execution, n.node, n.lease, n.holder FROM money.execution_nodes n
       WHERE n.state = 'Running' AND NOT EXISTS (SELECT FROM money.holders h WHERE h.id = n.holder AND h.ended_at IS NULL)
       LIMIT ${AT_ONCE}::int`
    if (rows.length > 0) measures?.reclaimed(rows.length)
    await Promise.all(rows.map((row) => lane.submit({ op: 'reclaim', ...row }, BUDGET_MS)))
  }
}
