import { expect, test } from 'vitest'
import { timingSteps, withTimingBefore } from './usage-latency.ts'
import { usageReportOf } from './usage-report.fixture.ts'
import { SHOWN_GROUPS, usageSteps } from './usage-stacks.ts'

const percentiles = { latencyP50Ms: null, firstTokenP50Ms: null, firstTokenP95Ms: null }
const none = { calls: 0, promptTokens: 0, completionTokens: 0, chargedMicro: 0 }
const time = '2026-11-20T00:00:00+01:00'
const period = {
  from: '2026-11-19T23:00:00.000Z',
  to: '2026-11-21T23:00:00.000Z',
  by: 'model',
  step: 'day',
  zone: 'Europe/Berlin',
} as const
const report = usageReportOf(period, [
  { time, group: 'b', ...none, errors: 3, ...percentiles, latencyP95Ms: null },
  { time, group: 'a', ...none, calls: 4, chargedMicro: 3, errors: 2, ...percentiles, latencyP95Ms: 800 },
])

test('timingSteps has a value for each group, and null where there were no calls', () => {
  const steps = timingSteps(report, 'latency-p95')
  expect(steps.map(({ values, total }) => [values, total])).toEqual([
    [[800, null], 800],
    [[null, null], null],
  ])
  expect(withTimingBefore(steps, report, 'latency-p95').map(({ before }) => before)).toEqual([800, undefined])
})

test('groups without their own color have no line, because percentiles do not add up', () => {
  const rows = Array.from({ length: SHOWN_GROUPS + 4 }, (_, n) => ({ ...report.data[1]!, group: `g${n}` }))
  expect(timingSteps(usageReportOf(period, rows), 'latency-p50')[0]!.values).toHaveLength(SHOWN_GROUPS)
})

test('errors are stacked, also those of groups whose calls all failed', () => {
  expect(usageSteps(report, 'errors').map(({ values }) => values)).toEqual([
    [2, 3],
    [0, 0],
  ])
})
