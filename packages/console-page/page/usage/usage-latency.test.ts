import type { LatencyFigures, UsageReport } from '@gateway/api/console/money'
import { expect, test } from 'vitest'
import { timingSteps, withTimingBefore } from './usage-latency.ts'
import { groupSums, SHOWN_GROUPS, usageSteps, withErrors } from './usage-stacks.ts'

const figures = (latencyP95Ms: number | null, errors = 0): LatencyFigures => ({
  errors,
  latencyP50Ms: null,
  latencyP95Ms,
  firstTokenP50Ms: null,
  firstTokenP95Ms: null,
})
const first = '2026-11-20T00:00:00+01:00'
const report: UsageReport = {
  from: '2026-11-19T23:00:00.000Z',
  to: '2026-11-21T23:00:00.000Z',
  by: 'model',
  step: 'day',
  zone: 'Europe/Berlin',
  data: [{ time: first, group: 'a', calls: 4, promptTokens: 1, completionTokens: 2, chargedMicro: 3 }],
  totalMicro: 3,
  latency: {
    total: figures(900, 5),
    groups: [
      { group: 'a', ...figures(800, 2) },
      { group: 'b', ...figures(null, 3) },
    ],
    steps: [{ time: first, ...figures(900, 5) }],
    cells: [
      { time: first, group: 'a', ...figures(800, 2) },
      { time: first, group: 'b', ...figures(null, 3) },
    ],
  },
}

test('timingSteps has a value for each group, and null where there were no calls', () => {
  const groups = groupSums(withErrors(report))
  expect(groups.map(({ group }) => group)).toEqual(['a', 'b'])
  const steps = timingSteps(report, groups, 'latency-p95')
  expect(steps.map(({ values, total }) => [values, total])).toEqual([
    [[800, null], 900],
    [[null, null], null],
  ])
  expect(withTimingBefore(steps, report, 'latency-p95').map(({ before }) => before)).toEqual([900, undefined])
})

test('groups without their own color have no line, because percentiles do not add up', () => {
  const groups = Array.from({ length: SHOWN_GROUPS + 4 }, (_, n) => ({ group: `g${n}` }))
  expect(timingSteps(report, groups, 'latency-p50')[0]!.values).toHaveLength(SHOWN_GROUPS)
})

test('errors are stacked, also those of groups whose calls all failed', () => {
  const rows = withErrors(report)
  const groups = groupSums(rows, 'errors')
  expect(groups.map(({ group, errors, calls }) => [group, errors, calls])).toEqual([
    ['b', 3, 0],
    ['a', 2, 4],
  ])
  const stacked = usageSteps({ ...report, data: rows }, groups, 'errors')
  expect(stacked.map(({ values }) => values)).toEqual([
    [3, 2],
    [0, 0],
  ])
})
