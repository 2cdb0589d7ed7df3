import type { UsageReport } from '@gateway/api/console/money'
import type { ChartStep } from '../components/chart-scale.ts'

/** Row of a report by step. */
export type UsageRow = UsageReport['data'][number]

type Counted = Pick<UsageRow, 'calls' | 'promptTokens' | 'completionTokens' | 'chargedMicro'>
/** Totals of a group over the whole report. */
export type GroupSum = Pick<UsageRow, 'group'> & Counted

/** What a chart can show. */
export const metrics = ['spend', 'calls', 'tokens'] as const
export type Metric = (typeof metrics)[number]

export const valueOf: Record<Metric, (row: Counted) => number> = {
  spend: ({ chargedMicro }) => chargedMicro,
  calls: ({ calls }) => calls,
  tokens: ({ promptTokens, completionTokens }) => promptTokens + completionTokens,
}

/** Number of groups with their own color. */
export const SHOWN_GROUPS = 6
const STEP_MS = { hour: 3_600_000, day: 86_400_000 }

/** Totals by group, largest first. */
export function groupSums(rows: readonly UsageRow[], metric: Metric = 'spend'): GroupSum[] {
  const sums = new Map<string | null, GroupSum>()
  for (const { group, ...row } of rows) {
    const sum = sums.get(group) ?? { group, calls: 0, promptTokens: 0, completionTokens: 0, chargedMicro: 0 }
    sums.set(group, {
      group,
      calls: sum.calls + row.calls,
      promptTokens: sum.promptTokens + row.promptTokens,
      completionTokens: sum.completionTokens + row.completionTokens,
      chargedMicro: sum.chargedMicro + row.chargedMicro,
    })
  }
  const value = valueOf[metric]
  return [...sums.values()].toSorted((a, b) => value(b) - value(a) || b.calls - a.calls)
}

/**
 * Every step of the report, including those without calls, with the value of each shown group and then of all others
 * combined. Local days have 23 to 25 hours.
 */
export function usageSteps(
  { from, to, step = 'day', data }: UsageReport,
  groups: readonly GroupSum[],
  metric: Metric = 'spend',
): ChartStep[] {
  const begin = Date.parse(from)
  const indexOf = (time: string) => Math.round((Date.parse(time) - begin) / STEP_MS[step])
  const places = new Map(groups.map(({ group }, n) => [group, Math.min(n, SHOWN_GROUPS)]))
  const series = Math.min(groups.length, SHOWN_GROUPS + 1)
  const startOf = (n: number) => new Date(begin + n * STEP_MS[step]).toISOString()
  const steps = Array.from({ length: indexOf(to) }, (_, n): ChartStep => {
    const values = Array.from({ length: series }, () => 0)
    return { from: startOf(n), to: startOf(n + 1), values }
  })
  for (const row of data) {
    const n = row.time === undefined ? -1 : indexOf(row.time)
    if (steps[n] === undefined) continue
    steps[n].from = new Date(row.time!).toISOString()
    if (n > 0) steps[n - 1]!.to = steps[n].from
    steps[n].values[places.get(row.group)!]! += valueOf[metric](row)
  }
  if (steps.length > 0) steps.at(-1)!.to = to
  return steps
}

/** Steps with the sum of the same step of an earlier report. */
export function withBefore(steps: ChartStep[], earlier: UsageReport, metric: Metric): ChartStep[] {
  const before = usageSteps(earlier, groupSums(earlier.data), metric)
  return steps.map((step, n) => ({ ...step, before: before[n]?.values.reduce((sum, value) => sum + value, 0) ?? 0 }))
}

/** Series of the groups, then one of all others. */
export function seriesOf(groups: readonly GroupSum[], nameOf: (group: string | null) => string) {
  return groups.slice(0, SHOWN_GROUPS + 1).map(({ group }, color) => ({
    name: color < SHOWN_GROUPS || groups.length === SHOWN_GROUPS + 1 ? nameOf(group) : 'Others',
    color,
  }))
}

/** Time range within a report; ISO 8601, UTC. */
export interface Zoom {
  from: string
  to: string
}

/** Range from the start of one step to the end of a later one. */
export function zoomOf(steps: readonly ChartStep[], first: number, last: number): Zoom {
  return { from: steps[first]!.from, to: steps[last]!.to }
}
