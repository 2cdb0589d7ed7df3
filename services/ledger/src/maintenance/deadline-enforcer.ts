import type { Database } from '@gateway/database/client'
import type { NodeBatcher } from '../executions/nodes/node-batcher.ts'
import type { Tell } from '../executions/notify-changes.ts'

// Runs past their deadline begin to fail, and those that have begun to are told so again to whoever runs their nodes, because the
// first ring may have been lost.

interface Deps {
  database: Pick<Database, 'prisma'>
  lane: NodeBatcher
  tell: Tell
}

const AT_ONCE = 2_000
const BUDGET_MS = 10_000

export function endOverdue({ database: { prisma }, lane, tell }: Deps): () => Promise<void> {
  return async () => {
    const overdue = await prisma.$queryRaw<{ id: string }[]>`
      SELECT id FROM money.executions WHERE completed_at IS NULL AND deadline_at <= clock_timestamp()
       ORDER BY deadline_at LIMIT ${AT_ONCE}::int`
    await Promise.all(overdue.map(({ id }) => lane.submit({ op: 'overdue', execution: id }, BUDGET_MS)))
    const ending = await prisma.$queryRaw<{ id: string }[]>`
      SELECT id FROM money.executions WHERE completed_at IS NULL AND error IS NOT NULL LIMIT ${AT_ONCE}::int`
    tell.ending(ending.map(({ id }) => id))
  }
}
