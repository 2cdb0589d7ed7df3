import type { Deps } from '../deps.ts'
import { notifyEnding } from '../executions/notify-changes.ts'

// Executions past their deadline begin to fail. Workers of those that are failing are notified again, because the first
// notification may have been lost.

const MAX_EXECUTIONS = 2_000
const BUDGET_MS = 10_000

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
