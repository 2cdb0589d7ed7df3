import type { Deps } from '../deps.ts'

// The lease of a node whose instance has ended is taken from it, by an ordinary item of the node batcher: its
// reservation is released, and it may be claimed again. One whose completion is kept because it could not be written has
// its result already (K2 of set-aside/kept-items.ts).

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
             SELECT FROM money.set_aside_items s WHERE s.name = n.execution || ' ' || n.node || ' ' || n.lease)
     LIMIT ${MAX_NODES}::int`
  if (rows.length > 0) metrics.reclaimed(rows.length)
  await Promise.all(rows.map((row) => nodeBatcher.submit({ op: 'reclaim', ...row }, BUDGET_MS)))
  return { rescued: rows.length }
}
