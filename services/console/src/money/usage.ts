import type { UsageReport } from '@gateway/contracts/console/money'
import type { ConsoleDeps } from '../deps.ts'
import { authorizeInProject } from '../permissions/authorize.ts'
import type { Handler } from '../request/call.ts'
import { personOf } from '../sign-in/person.ts'
import { usageRows } from './usage-rows.ts'
import { wholeHours } from './whole-hours.ts'

const MONTH_MS = 30 * 86_400_000

/**
 * GET …/projects/{p}/usage: settled calls admitted from `from` on and before `to`; by default the last 30 days. Whole
 * hours are counted: the answer says from when to when (rules §7.5).
 */
export function readUsage(deps: Pick<ConsoleDeps, 'prisma' | 'now'>): Handler<'readUsage'> {
  return async (call, res) => {
    const tenant = call.id('tenant')
    const { id: project } = await authorizeInProject(deps, personOf(res), tenant, call.id('project'), 'usage.read')
    const { by, ...asked } = call.query()
    const period = wholeHours(asked, deps.now(), MONTH_MS)
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
