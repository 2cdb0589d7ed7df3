import { idempotencyKeyLimits } from '@gateway/api/limits'
import { callFunction } from '@gateway/database/call-function'
import type { Deps } from '../deps.ts'

// Tables that are partitioned by time get their partitions ahead of time, and lose those whose retention is over.
// Nothing waits for it: rows without a partition go into the default one, a lock that is not free at once is left for
// the next turn, and each change is a separate transaction (money.make_partition).

interface Partitioned {
  table: string
  daysAhead: number
  /** null: kept forever. */
  daysKept: number | null
}

const { keptDays } = idempotencyKeyLimits

/** Monthly partitions are created a month ahead, weekly ones a few weeks ahead. */
const TABLES: Partitioned[] = [
  { table: 'answers', daysAhead: 7, daysKept: keptDays },
  { table: 'attempts', daysAhead: 31, daysKept: null },
  { table: 'journal', daysAhead: 31, daysKept: null },
  { table: 'journal_blocks', daysAhead: 31, daysKept: null },
  { table: 'executions', daysAhead: 21, daysKept: keptDays },
  { table: 'execution_nodes', daysAhead: 21, daysKept: null }, // dropped with their executions
]

/** @throws AggregateError of what could not be created or dropped, after everything was tried */
export async function planPartitions({
  reads: { sql },
}: Pick<Deps, 'reads'>): Promise<{ made: number; dropped: number }> {
  const counts = { made: 0, dropped: 0 }
  const errors: unknown[] = []
  for (const { table, daysAhead, daysKept } of TABLES) {
    try {
      while ((await callFunction(sql, 'money.make_partition', { of_table: table, days_ahead: daysAhead })).made)
        counts.made++
      while (daysKept && (await dropOne(sql, table, daysKept))) counts.dropped++
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, 'partitions could not be made or dropped')
  return counts
}

async function dropOne(sql: Deps['reads']['sql'], table: string, daysKept: number): Promise<string | null> {
  const { dropped } = await callFunction(sql, 'money.drop_partition', { of_table: table, days_kept: daysKept })
  return dropped
}

/** Returns for how many days from today on each table has its partitions. */
export function plannedDays({ reads }: Pick<Deps, 'reads'>): Promise<{ table: string; days: number }[]> {
  return reads.prisma.$queryRaw`
    SELECT t AS table, money.planned_days(t) AS days FROM unnest(${TABLES.map(({ table }) => table)}::text[]) t`
}
