import { Prisma } from '@gateway/database/client'
import { type UsageReport } from '@gateway/contracts/console/money'
import type { ConsoleDeps } from '../deps.ts'
import type { Handler } from '../request/call.ts'
import { personOf } from '../sign-in/person.ts'
import { authorizeInProject } from '../permissions/authorize.ts'

interface UsageRow {
  group: string | null
  calls: bigint
  prompt: bigint
  completion: bigint
  charged: bigint
}

const MONTH_MS = 30 * 86_400_000

const groups = {
  model: Prisma.sql`product`,
  key: Prisma.sql`nullif(key, '')`, // empty: a person ran a sandbox product
  day: Prisma.sql`to_char(admitted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')`,
}

/** GET …/projects/{p}/usage: settled calls admitted from `from` on and before `to`; by default the last 30 days. */
export function readUsage(deps: Pick<ConsoleDeps, 'prisma' | 'now'>): Handler<'readUsage'> {
  const { prisma, now } = deps
  return async (call, res) => {
    const tenant = call.id('tenant')
    const { id: project } = await authorizeInProject(deps, personOf(res), tenant, call.id('project'), 'usage.read')
    const { by, ...period } = call.query()
    const to = period.to ?? (period.from ? new Date(period.from.getTime() + MONTH_MS) : now())
    const from = period.from ?? new Date(to.getTime() - MONTH_MS)
    const rows = await prisma.$queryRaw<UsageRow[]>`
      SELECT ${groups[by]} AS "group", count(*) AS calls, coalesce(sum(prompt_tokens), 0)::bigint AS prompt,
             coalesce(sum(completion_tokens), 0)::bigint AS completion, sum(charged_micro)::bigint AS charged
        FROM money.attempts
       WHERE project = ${project} AND state = 'Settled' AND admitted_at >= ${from} AND admitted_at < ${to}
       GROUP BY 1 ORDER BY 1 NULLS LAST`
    const report: UsageReport = {
      from: from.toISOString(),
      to: to.toISOString(),
      by,
      data: rows.map(({ group, calls, prompt, completion, charged }) => ({
        group,
        calls: Number(calls),
        promptTokens: Number(prompt),
        completionTokens: Number(completion),
        chargedMicro: Number(charged),
      })),
      totalMicro: Number(rows.reduce((sum, { charged }) => sum + charged, 0n)),
    }
    res.json(report)
  }
}
