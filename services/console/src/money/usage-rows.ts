import { Prisma } from '@gateway/database/client'
import type { UsageReport } from '@gateway/contracts/console/money'
import type { ConsoleDeps } from '../deps.ts'
import { readRolledUp } from './read-rolled-up.ts'

export interface UsageRow {
  group: string | null
  calls: bigint
  prompt: bigint
  completion: bigint
  charged: bigint
}

interface Period {
  from: Date
  to: Date
}

const DAY_MS = 86_400_000

const groups: Record<UsageReport['by'], Prisma.Sql> = {
  model: Prisma.sql`product`,
  key: Prisma.sql`nullif(key, '')`, // empty: a person ran a sandbox product
  day: Prisma.sql`to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD')`,
}

/**
 * Settled calls that were admitted from `from` on and before `to`, which are whole hours: what the ledger has rolled up
 * by the day, by the hour where no whole day is asked for (money §9.2), and what lies behind that in the journal. The
 * second statement reads all of it, so that it is of one moment.
 */
export async function usageRows(
  { prisma }: Pick<ConsoleDeps, 'prisma'>,
  { project, by, ...period }: Period & { project: string; by: UsageReport['by'] },
): Promise<UsageRow[]> {
  const known = await readRolledUp({ prisma }, project)
  const { days, hours } = partsOf(period)
  const counts = Prisma.sql`calls, prompt_tokens, completion_tokens, micro`
  const inHours = (part: Period) => Prisma.sql`
      SELECT hour AS at, product, key, ${counts} FROM money.usage_hours
       WHERE project = ${project} AND hour >= ${part.from} AND hour < ${part.to}
      UNION ALL`
  return prisma.$queryRaw<UsageRow[]>`
    WITH position AS MATERIALIZED (SELECT p.seq FROM money.usage_positions p WHERE p.project = ${project}),
    settled AS MATERIALIZED (
      SELECT j.reference, j.settled AS micro FROM money.journal j
       WHERE j.project = ${project} AND j.kind = 'settle'
         AND j.seq > ${known.seq} AND j.at >= ${known.since}
         AND j.seq > coalesce((SELECT seq FROM position), 0)),
    used AS (
      SELECT day AS at, product, key, ${counts} FROM money.usage_days
       WHERE project = ${project} AND day >= ${days.from} AND day < ${days.to}
      UNION ALL ${Prisma.join(hours.map(inHours), '')}
      SELECT v.admitted_at, v.product, v.key, 1, v.prompt_tokens, v.completion_tokens, s.micro
        FROM settled s JOIN money.attempts v ON v.id = s.reference
       WHERE v.id = ANY (ARRAY(SELECT reference FROM settled))
         AND v.admitted_at >= ${period.from} AND v.admitted_at < ${period.to})
    SELECT ${groups[by]} AS "group", sum(calls)::bigint AS calls, coalesce(sum(prompt_tokens), 0)::bigint AS prompt,
           coalesce(sum(completion_tokens), 0)::bigint AS completion, sum(micro)::bigint AS charged
      FROM used GROUP BY 1 ORDER BY 1 NULLS LAST`
}

/** The whole days of a time, and the hours before and behind them. */
function partsOf({ from, to }: Period): { days: Period; hours: [Period, Period] } {
  const first = Math.min(Math.ceil(from.getTime() / DAY_MS) * DAY_MS, to.getTime())
  const last = Math.max(Math.floor(to.getTime() / DAY_MS) * DAY_MS, first)
  const [begin, end] = [new Date(first), new Date(last)]
  const days = { from: begin, to: end }
  return {
    days,
    hours: [
      { from, to: begin },
      { from: end, to },
    ],
  }
}
