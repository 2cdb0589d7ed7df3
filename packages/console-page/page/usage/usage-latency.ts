import type { UsageFigures, UsageReport } from '@gateway/api/console/money'
import type { ChartStep } from '../components/chart-scale.ts'
import { emptySteps, shownOf } from './usage-stacks.ts'

/** Metrics that don't add up over groups: a chart has a line for each. */
export const timings = ['latency-p50', 'latency-p95', 'first-token-p50', 'first-token-p95'] as const
export type Timing = (typeof timings)[number]

/** Figure of a timing in milliseconds; null without calls. */
export const timingOf: Record<Timing, (figures: UsageFigures) => number | null> = {
  'latency-p50': ({ latencyP50Ms }) => latencyP50Ms ?? null,
  'latency-p95': ({ latencyP95Ms }) => latencyP95Ms ?? null,
  'first-token-p50': ({ firstTokenP50Ms }) => firstTokenP50Ms ?? null,
  'first-token-p95': ({ firstTokenP95Ms }) => firstTokenP95Ms ?? null,
}

/** Whether a metric is a timing. */
export function isTiming(metric: string): metric is Timing {
  return timings.some((timing) => timing === metric)
}

/**
 * Every step of the report with the timing of each shown group, and of all groups together: percentiles of the other
 * groups can't be combined, so these are only in that total.
 */
export function timingSteps(report: UsageReport, timing: Timing): ChartStep[] {
  const shown = shownOf(report).map(({ group }) => group)
  const { steps, indexOf } = emptySteps(report, () => shown.map(() => null))
  const figure = timingOf[timing]
  for (const step of steps) step.total = null
  for (const each of report.steps ?? []) {
    const step = steps[indexOf(each.time)]
    if (step) step.total = figure(each)
  }
  for (const cell of report.data) {
    const step = cell.time === undefined ? undefined : steps[indexOf(cell.time)]
    const place = shown.indexOf(cell.group)
    if (step && place >= 0) step.values[place] = figure(cell)
  }
  return steps
}

/** Steps with the timing of all calls in the same step of an earlier report, if it had calls. */
export function withTimingBefore(steps: ChartStep[], earlier: UsageReport, timing: Timing): ChartStep[] {
  const before = timingSteps(earlier, timing)
  return steps.map((step, n) => {
    const total = before[n]?.total ?? null
    return total === null ? step : { ...step, before: total }
  })
}
