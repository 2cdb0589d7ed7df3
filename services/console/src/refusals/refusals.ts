import { Prisma } from '@gateway/database/client'
import type { LatestRefusals, RefusalCounts } from '@gateway/api/console/refusals'
import type { Refusal } from '@gateway/api/refusal'
import { refusals } from '@gateway/api/refusals'
import type { ConsoleDeps } from '../deps.ts'
import { periodOf, wholeHours } from '../money/usage.ts'
import { inProject, mayUseSandboxes } from '../permissions/authorize.ts'
import type { Handler } from '../request/call.ts'
import { invalidField } from '../request/check.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'now'>

const DAY_MS = 86_400_000

/** Maximum number of rows returned. */
const MAX_COUNTS = 50_000

/**
 * GET …/projects/{p}/refusals: counts by whole hours, or of the whole period, as reported by gateways; by default for the
 * last day.
 */
export function countRefusals(deps: Deps): Handler<'countRefusals'> {
  const { prisma, now } = deps
  return async (call, res) => {
    const { project } = await inProject(deps.prisma, call, res, 'usage.read')
    const { by, step, ...asked } = call.query()
    const { from, to } = wholeHours(periodOf(asked, now(), DAY_MS))
    const rows = await prisma.$queryRaw<{ hour: Date; group: string; count: bigint }[]>`
      SELECT ${step === 'hour' ? Prisma.sql`hour` : Prisma.sql`max(hour) AS hour`}, ${by === 'code' ? Prisma.sql`code` : Prisma.sql`key`} AS "group", sum(count)::bigint AS count
        FROM money.refusal_hours WHERE project = ${project} AND hour >= ${from} AND hour < ${to}
       GROUP BY ${step === 'hour' ? Prisma.sql`1, 2` : Prisma.sql`2`} ORDER BY 1, 2 LIMIT ${MAX_COUNTS + 1}`
    if (rows.length > MAX_COUNTS) throw tooManyCounts(step)
    const report: RefusalCounts = {
      from: from.toISOString(),
      to: to.toISOString(),
      by,
      data: rows.map(({ hour, group, count }) => ({ hour: hour.toISOString(), group, count: Number(count) })),
      total: Number(rows.reduce((sum, { count }) => sum + count, 0n)),
    }
    res.json(report)
  }
}

function tooManyCounts(step: 'hour' | 'none'): Refusal {
  const cure =
    step === 'hour' ? 'Request a shorter period, or the sum of each group (step=none).' : 'Request a shorter period.'
  return invalidField('from', `results in more than ${MAX_COUNTS} rows.`, cure)
}

/**
 * GET …/projects/{p}/refusals/recent: the last 100, newest first. The ids of sandbox products are hidden from users who
 * may not use them.
 */
export function listLatestRefusals(deps: Deps): Handler<'listLatestRefusals'> {
  return async (call, res) => {
    const { user, tenant, project } = await inProject(deps.prisma, call, res, 'usage.read')
    const seesSandboxes = await mayUseSandboxes(deps.prisma, user, tenant, project)
    const rows = await deps.prisma.latestRefusal.findMany({
      where: { project },
      orderBy: [{ at: 'desc' }, { request: 'desc' }],
      take: 100,
    })
    const data: LatestRefusals['data'] = rows.map(({ at, key, model, code, request }) => ({
      at: at.toISOString(),
      key,
      model: seesSandboxes || !model?.startsWith('sbx-') ? model : null,
      code,
      status: (refusals as Record<string, { status: number }>)[code]?.status ?? 500,
      requestId: request,
    }))
    res.json({ data })
  }
}
