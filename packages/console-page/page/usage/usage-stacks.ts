import type { UsageFigures, UsageReport } from '@gateway/api/console/money'
import { DAY_MS, daysOf, HOUR_MS, timeZone } from '@gateway/api/time-zone'
import type { ChartStep } from '../components/chart-scale.ts'

/** Totals of a group over the whole report. */
export type GroupSum = { group: string | null } & UsageFigures

/** What a stacked chart can show. */
export const stacked = ['spend', 'calls', 'tokens', 'errors'] as const
export type Stacked = (typeof stacked)[number]

export const valueOf: Record<Stacked, (figures: UsageFigures) => number> = {
  spend: ({ chargedMicro }) => chargedMicro,
  calls: ({ calls }) => calls,
  tokens: ({ promptTokens, completionTokens }) => promptTokens + completionTokens,
  errors: ({ errors }) => errors,
}

/** Number of groups with their own color. */
export const SHOWN_GROUPS = 6
const STEP_MS = { hour: HOUR_MS, day: DAY_MS }

/** Groups with their own color: the first ones of the report. */
export function shownOf({ groups = [] }: UsageReport): GroupSum[] {
  return groups.slice(0, SHOWN_GROUPS)
}

/**
 * Every step of the report, including those without calls, with the value of each shown group and then of all others
 * combined. Local days have 23 to 25 hours.
 */
export function usageSteps(report: UsageReport, metric: Stacked = 'spend'): ChartStep[] {
  const places = new Map(shownOf(report).map(({ group }, n) => [group, n]))
  const hasOthers = report.groupCount > places.size
  const { steps, indexOf } = emptySteps(report, () =>
    Array.from({ length: places.size + (hasOthers ? 1 : 0) }, () => 0),
  )
  const add = (time: string, place: number, value: number) => {
    const values = steps[indexOf(time)]?.values
    if (values) values[place] = values[place]! + value
  }
  if (hasOthers) for (const each of report.steps ?? []) add(each.time, places.size, valueOf[metric](each))
  for (const { time, group, ...figures } of report.data) {
    const place = places.get(group)
    if (time === undefined || place === undefined) continue
    add(time, place, valueOf[metric](figures))
    if (hasOthers) add(time, places.size, -valueOf[metric](figures))
  }
  return steps
}

/** Every step of a report, and the index of the step that starts at a time. */
export function emptySteps(report: UsageReport, valuesOf: () => ChartStep['values']) {
  const begin = Date.parse(report.from)
  const indexOf = (time: string) => Math.round((Date.parse(time) - begin) / STEP_MS[report.step ?? 'day'])
  const bounds = stepBounds(report).map((at) => new Date(at).toISOString())
  const steps = bounds.slice(1).map((to, n): ChartStep => ({ from: bounds[n]!, to, values: valuesOf() }))
  return { steps, indexOf }
}

/** Starts of the steps of a report as Unix times in milliseconds, and last the end of the last step. */
function stepBounds({ from, to, step = 'day', zone = 'UTC' }: Steps): number[] {
  const [begin, end] = [Date.parse(from), Date.parse(to)]
  if (step === 'day') return daysOf(timeZone(zone) ?? timeZone('UTC')!, begin, end)
  return Array.from({ length: Math.ceil((end - begin) / HOUR_MS) + 1 }, (_, n) => begin + n * HOUR_MS)
}

type Steps = Pick<UsageReport, 'from' | 'to' | 'step' | 'zone'>

/** The same query for as many steps before. */
export function queryBefore<Query extends Steps>(query: Query): Query {
  const count = stepBounds(query).length - 1
  const early = new Date(Date.parse(query.from) - (count + 1) * STEP_MS[query.step ?? 'day']).toISOString()
  const from = stepBounds({ ...query, from: early, to: query.from }).at(-1 - count)!
  return { ...query, from: new Date(from).toISOString(), to: query.from }
}

/** Steps with the sum of the same step of an earlier report. */
export function withBefore(steps: ChartStep[], earlier: UsageReport, metric: Stacked): ChartStep[] {
  const { steps: before, indexOf } = emptySteps(earlier, () => [0])
  for (const { time, ...figures } of earlier.steps ?? []) {
    const step = before[indexOf(time)]
    if (step) step.values = [valueOf[metric](figures)]
  }
  return steps.map((step, n) => ({ ...step, before: before[n]?.values[0] ?? 0 }))
}

/** Series of the shown groups, then one of all others. */
export function seriesOf(report: UsageReport, nameOf: (group: string | null) => string) {
  const shown = shownOf(report).map(({ group }, color) => ({ name: nameOf(group), color }))
  const others = report.groupCount - shown.length
  if (others === 0) return shown
  const [first] = (report.groups ?? []).slice(SHOWN_GROUPS)
  return [...shown, { name: others === 1 && first ? nameOf(first.group) : 'Others', color: shown.length }]
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
