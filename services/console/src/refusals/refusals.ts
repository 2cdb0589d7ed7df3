import { Prisma } from '@gateway/database/client'
import type { LatestRefusals, RefusalCounts } from '@gateway/api/console/refusals'
import { refusals } from '@gateway/api/refusals'
import type { ConsoleDeps } from '../deps.ts'
import { periodOf, wholeHours } from '../money/usage.ts'
import { authorizeInProject, mayUseSandboxes } from '../permissions/authorize.ts'
import type { Handler } from '../request/call.ts'
import { userOf } from '../sign-in/user.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'now'>

const DAY_MS = 86_400_000

/** GET …/projects/{p}/refusals: counts by whole hours, as reported by gateways; by default for the last day. */
export function countRefusals(deps: Deps): Handler<'countRefusals'> {
  const { prisma, now } = deps
  return async (call, res) => {
    const tenant = call.id('tenant')
    const { id: project } = await authorizeInProject(deps.prisma, userOf(res), tenant, call.id('project'), 'usage.read')
    const { by, ...asked } = call.query()
    const { from, to } = wholeHours(periodOf(asked, now(), DAY_MS))
    const rows = await prisma.$queryRaw<{ hour: Date; group: string; count: bigint }[]>`
      SELECT hour, ${by === 'code' ? Prisma.sql`code` : Prisma.sql`key`} AS "group", sum(count)::bigint AS count
        FROM money.refusal_hours WHERE project = ${project} AND hour >= ${from} AND hour < ${to}
       GROUP BY 1, 2 ORDER BY 1, 2`
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

/**
 * GET …/projects/{p}/refusals/recent: the last 100, newest first. The ids of sandbox products are hidden from users who
 * may not use them.
 */
export function listLatestRefusals(deps: Deps): Handler<'listLatestRefusals'> {
  return async (call, res) => {
    const user = userOf(res)
    const tenant = call.id('tenant')
    const { id: project } = await authorizeInProject(deps.prisma, user, tenant, call.id('project'), 'usage.read')
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
