import type { UsageReport } from '@gateway/api/console/money'
import type { ChartStep } from '../components/chart-scale.ts'

/** Row of a report by step, with the calls that failed. */
export type UsageRow = UsageReport['data'][number] & { errors: number }

type Counted = Pick<UsageRow, 'calls' | 'promptTokens' | 'completionTokens' | 'chargedMicro' | 'errors'>
/** Totals of a group over the whole report. */
export type GroupSum = Pick<UsageRow, 'group'> & Counted

/** What a stacked chart can show. */
export const stacked = ['spend', 'calls', 'tokens', 'errors'] as const
export type Stacked = (typeof stacked)[number]

export const valueOf: Record<Stacked, (row: Counted) => number> = {
  spend: ({ chargedMicro }) => chargedMicro,
  calls: ({ calls }) => calls,
  tokens: ({ promptTokens, completionTokens }) => promptTokens + completionTokens,
  errors: ({ errors }) => errors,
}

/** Number of groups with their own color. */
export const SHOWN_GROUPS = 6
const STEP_MS = { hour: 3_600_000, day: 86_400_000 }

const nothing = { calls: 0, promptTokens: 0, completionTokens: 0, chargedMicro: 0, errors: 0 }

/** Rows of a report with their errors. A group of which all calls failed in a step has a row as well. */
export function withErrors({ data, latency }: Pick<UsageReport, 'data' | 'latency'>): UsageRow[] {
  const nameOf = ({ time, group }: { time?: string; group: string | null }) => JSON.stringify([time, group])
  const rows = new Map(data.map((row) => [nameOf(row), { ...row, errors: 0 }]))
  for (const { time, group, errors } of latency?.cells ?? []) {
    if (errors === 0) continue
    const name = nameOf({ time, group })
    rows.set(name, { ...(rows.get(name) ?? { time, group, ...nothing }), errors })
  }
  return [...rows.values()]
}

/** Totals by group, largest first. */
export function groupSums(rows: readonly UsageRow[], metric: Stacked = 'spend'): GroupSum[] {
  const sums = new Map<string | null, GroupSum>()
  for (const { group, ...row } of rows) {
    const sum = sums.get(group) ?? { group, ...nothing }
    sums.set(group, {
      group,
      calls: sum.calls + row.calls,
      promptTokens: sum.promptTokens + row.promptTokens,
      completionTokens: sum.completionTokens + row.completionTokens,
      chargedMicro: sum.chargedMicro + row.chargedMicro,
      errors: sum.errors + row.errors,
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
  report: Omit<UsageReport, 'data'> & { data: readonly UsageRow[] },
  groups: readonly GroupSum[],
  metric: Stacked = 'spend',
): ChartStep[] {
  const places = new Map(groups.map(({ group }, n) => [group, Math.min(n, SHOWN_GROUPS)]))
  const series = Math.min(groups.length, SHOWN_GROUPS + 1)
  const { steps, indexOf } = emptySteps(report, () => Array.from({ length: series }, () => 0))
  for (const row of report.data) {
    const values = row.time === undefined ? undefined : steps[indexOf(row.time)]?.values
    const place = places.get(row.group)!
    if (values) values[place] = values[place]! + valueOf[metric](row)
  }
  return steps
}

/** Every step of a report, with the times of its rows, and the index of the step that starts at a time. */
export function emptySteps(
  { from, to, step = 'day', data, latency }: Omit<UsageReport, 'data'> & { data: readonly { time?: string }[] },
  valuesOf: () => ChartStep['values'],
) {
  const begin = Date.parse(from)
  const indexOf = (time: string) => Math.round((Date.parse(time) - begin) / STEP_MS[step])
  const startOf = (n: number) => new Date(begin + n * STEP_MS[step]).toISOString()
  const steps = Array.from({ length: indexOf(to) }, (_, n): ChartStep => ({
    from: startOf(n),
    to: startOf(n + 1),
    values: valuesOf(),
  }))
  for (const { time } of [...data, ...(latency?.steps ?? [])]) {
    const n = time === undefined ? -1 : indexOf(time)
    if (steps[n] === undefined) continue
    steps[n].from = new Date(time!).toISOString()
    if (n > 0) steps[n - 1]!.to = steps[n].from
  }
  if (steps.length > 0) steps.at(-1)!.to = to
  return { steps, indexOf }
}

/** Steps with the sum of the same step of an earlier report. */
export function withBefore(steps: ChartStep[], earlier: UsageReport, metric: Stacked): ChartStep[] {
  const data = withErrors(earlier)
  const before = usageSteps({ ...earlier, data }, groupSums(data), metric)
  const sumOf = ({ values }: ChartStep) => values.reduce<number>((sum, value) => sum + (value ?? 0), 0)
  return steps.map((step, n) => ({ ...step, before: before[n] === undefined ? 0 : sumOf(before[n]) }))
}

/** Series of the groups, then one of all others. */
export function seriesOf(groups: readonly Pick<GroupSum, 'group'>[], nameOf: (group: string | null) => string) {
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
