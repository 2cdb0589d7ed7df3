import type { UsageReport } from '@gateway/contracts/console/money'
import type { ConsoleDeps } from '../deps.ts'
import { authorizeInProject } from '../permissions/authorize.ts'
import type { Handler } from '../request/call.ts'
import { personOf } from '../sign-in/person.ts'
import { usageRows } from './usage-rows.ts'

const HOUR_MS = 3_600_000
const MONTH_MS = 30 * 24 * HOUR_MS

/**
 * GET …/projects/{p}/usage: settled calls admitted from `from` on and before `to`; by default the last 30 days. Whole
 * hours are counted: the answer says from when to when (rules §7.5).
 */
export function readUsage(deps: Pick<ConsoleDeps, 'prisma' | 'now'>): Handler<'readUsage'> {
  return async (call, res) => {
    const tenant = call.id('tenant')
    const { id: project } = await authorizeInProject(deps, personOf(res), tenant, call.id('project'), 'usage.read')
    const { by, ...asked } = call.query()
    const period = wholeHours(asked, deps.now())
    const rows = await usageRows(deps, { project, by, ...period })
    const report: UsageReport = {
      from: period.from.toISOString(),
      to: period.to.toISOString(),
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

/** From the beginning of the hour that `from` lies in to the end of the hour that `to` lies in. */
function wholeHours(asked: { from?: Date | undefined; to?: Date | undefined }, now: Date): { from: Date; to: Date } {
  const to = asked.to ?? (asked.from ? new Date(asked.from.getTime() + MONTH_MS) : now)
  const from = asked.from ?? new Date(to.getTime() - MONTH_MS)
  return {
    from: new Date(Math.floor(from.getTime() / HOUR_MS) * HOUR_MS),
    to: new Date(Math.ceil(to.getTime() / HOUR_MS) * HOUR_MS),
  }
}
