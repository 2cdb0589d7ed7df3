import type { UsageReport } from '@gateway/api/console/money'
import type { Refusal } from '@gateway/api/refusal'
import { recordChange } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import { authorizeInProject } from '../permissions/authorize.ts'
import type { Permission } from '../permissions/permissions.ts'
import type { Handler } from '../request/call.ts'
import { invalidField } from '../request/check.ts'
import { sendCsv } from '../request/send-csv.ts'
import { userOf } from '../sign-in/user.ts'
import { DAY_MS, HOUR_MS, localTime } from './time-zone.ts'
import { type LatencyCell, latencyCells } from './latency-cells.ts'
import { composeLatency } from './compose-latency.ts'
import { usageTable } from './usage-table.ts'
import { latencyByUser, readKeyUsers, usageByUser } from './usage-by-user.ts'
import { MAX_USAGE_ROWS, type UsageQuestion, type UsageRow, usageRows } from './usage-rows.ts'
import { type UsageSteps, usageSteps } from './usage-steps.ts'

const MONTH_MS = 30 * DAY_MS

/**
 * GET …/projects/{p}/usage: settled calls admitted from `from` and before `to`; by default the last 30 days. Counts
 * whole hours, or whole steps of a time zone; the response states the period counted (rules §7.5).
 */
export function readUsage(deps: Pick<ConsoleDeps, 'prisma' | 'now'>): Handler<'readUsage'> {
  return async (call, res) => {
    const tenant = call.id('tenant')
    const { by, step, zone = 'UTC', include, format, ...asked } = call.query()
    const may = (permission: Permission) =>
      authorizeInProject(deps.prisma, userOf(res), tenant, call.id('project'), permission)
    const { id: project } = await may('usage.read')
    if (by === 'sandbox') await may('sandboxes.use')
    const time = periodOf(asked, deps.now(), MONTH_MS)
    const steps = step && usageSteps(time, step, zone)
    const { from, to } = steps ?? wholeHours(time)
    const question = { project, from, to, steps }
    const [rows, cells] = await readGroups(deps, question, by, include === 'latency')
    const report: UsageReport = {
      from: from.toISOString(),
      to: to.toISOString(),
      by,
      ...(step && { step, zone }),
      data: rows.map((row) => ({
        ...(steps && { time: timeOfStep(steps, row.step!) }),
        group: row.group,
        calls: Number(row.calls),
        promptTokens: Number(row.prompt),
        completionTokens: Number(row.completion),
        chargedMicro: Number(row.charged),
      })),
      totalMicro: Number(rows.reduce((sum, { charged }) => sum + charged, 0n)),
      ...(cells && { latency: composeLatency(cells, (step) => timeOfStep(steps!, step)) }),
    }
    if (format === 'json') return void res.json(report)
    const details = { from: report.from, to: report.to, by }
    const what = { action: 'usage.export', subject: project, details }
    await recordChange(deps.prisma, { tenant, user: userOf(res).id, ...what })
    sendCsv(res, `usage-${project}-${report.from.slice(0, 10)}-${report.to.slice(0, 10)}`, usageTable(report))
  }
}

/** Reads usage and, if requested, latency by group. */
async function readGroups(
  deps: Pick<ConsoleDeps, 'prisma'>,
  question: Omit<UsageQuestion, 'by'>,
  by: UsageReport['by'],
  withLatency: boolean,
): Promise<[UsageRow[], LatencyCell[] | null]> {
  const dimension = by === 'user' ? 'key' : by
  const rows = await usageRows(deps, { ...question, by: dimension })
  const cells = withLatency && dimension !== 'day' ? await latencyCells(deps, { ...question, by: dimension }) : null
  if (Math.max(rows.length, cells?.length ?? 0) > MAX_USAGE_ROWS) throw tooManyRows()
  if (by !== 'user') return [rows, cells]
  const userOf = await readKeyUsers(deps, question.project)
  return [usageByUser(rows, userOf), cells && latencyByUser(cells, userOf)]
}

/** Start of a step in its zone. */
function timeOfStep({ zone, starts }: UsageSteps, step: number): string {
  return localTime(zone, starts[step - 1]!.getTime())
}

function tooManyRows(): Refusal {
  const wrong = `results in more than ${MAX_USAGE_ROWS} rows.`
  return invalidField('step', wrong, 'Request a shorter period, a longer step, or another group.')
}

interface Period {
  from: Date
  to: Date
}

/**
 * Returns the requested period.
 * @param usualMs its length if one of its ends is not given
 */
export function periodOf(
  asked: { from?: Date | undefined; to?: Date | undefined },
  now: Date,
  usualMs: number,
): Period {
  const to = asked.to ?? (asked.from ? new Date(asked.from.getTime() + usualMs) : now)
  return { from: asked.from ?? new Date(to.getTime() - usualMs), to }
}

/** Extends a period to whole hours. */
export function wholeHours({ from, to }: Period): Period {
  return {
    from: new Date(Math.floor(from.getTime() / HOUR_MS) * HOUR_MS),
    to: new Date(Math.ceil(to.getTime() / HOUR_MS) * HOUR_MS),
  }
}
