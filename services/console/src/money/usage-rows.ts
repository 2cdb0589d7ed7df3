import { Prisma } from '@gateway/database/client'
import type { UsageReport } from '@gateway/contracts/console/money'
import type { ConsoleDeps } from '../deps.ts'

export interface UsageRow {
  group: string | null
  calls: bigint
  prompt: bigint
  completion: bigint
  charged: bigint
}

const groups: Record<UsageReport['by'], Prisma.Sql> = {
  model: Prisma.sql`product`,
  key: Prisma.sql`nullif(key, '')`, // empty: a person ran a sandbox product
  day: Prisma.sql`to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD')`,
}

/**
 * Settled calls that were admitted from `from` on and before `to`, which are whole hours: what the ledger has rolled up
 * by the hour (money §9.2), and what lies behind that in the journal. One statement, so that both are of one moment.
 */
export function usageRows(
  { prisma }: Pick<ConsoleDeps, 'prisma'>,
  { project, from, to, by }: { project: string; from: Date; to: Date; by: UsageReport['by'] },
): Promise<UsageRow[]> {
  return prisma.$queryRaw<UsageRow[]>`
    WITH position AS MATERIALIZED (SELECT p.seq, p.at FROM money.usage_positions p WHERE p.project = ${project}),
    used AS (
      SELECT hour AS at, product, key, calls, prompt_tokens, completion_tokens, micro
        FROM money.usage_hours WHERE project = ${project} AND hour >= ${from} AND hour < ${to}
      UNION ALL
      SELECT v.admitted_at, v.product, v.key, 1, v.prompt_tokens, v.completion_tokens, j.settled
        FROM money.journal j
       CROSS JOIN LATERAL (SELECT * FROM money.attempts a WHERE a.id = j.reference LIMIT 1) v
       WHERE j.project = ${project} AND j.kind = 'settle'
         AND j.seq > coalesce((SELECT seq FROM position), 0)
         AND j.at >= coalesce((SELECT at FROM position) - interval '1 day', '-infinity')
         AND v.admitted_at >= ${from} AND v.admitted_at < ${to})
    SELECT ${groups[by]} AS "group", sum(calls)::bigint AS calls, coalesce(sum(prompt_tokens), 0)::bigint AS prompt,
           coalesce(sum(completion_tokens), 0)::bigint AS completion, sum(micro)::bigint AS charged
      FROM used GROUP BY 1 ORDER BY 1 NULLS LAST`
}
