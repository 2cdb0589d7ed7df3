import { expect, test } from 'vitest'
import { groupSums, SHOWN_GROUPS, usageSteps, type UsageRow, stepAt, zoomOf } from './usage-stacks.ts'
import { usageQueryOf, usageView } from './usage-view.ts'

const row = (time: string, group: string | null, chargedMicro: number): UsageRow => ({
  time,
  group,
  calls: 1,
  promptTokens: 2,
  completionTokens: 3,
  chargedMicro,
})
const report = (data: UsageRow[]) => ({
  from: '2026-10-24T22:00:00.000Z', // midnight in Berlin, where the next day has 25 hours
  to: '2026-10-26T23:00:00.000Z',
  by: 'model' as const,
  step: 'day' as const,
  zone: 'Europe/Berlin',
  data,
  totalMicro: 0,
})

test('groupSums sums each group, most expensive first', () => {
  const rows = [row('1', 'a', 1), row('2', 'b', 5), row('3', 'a', 2), row('4', null, 3)]
  expect(groupSums(rows)).toEqual([
    { group: 'b', calls: 1, promptTokens: 2, completionTokens: 3, chargedMicro: 5 },
    { group: 'a', calls: 2, promptTokens: 4, completionTokens: 6, chargedMicro: 3 },
    { group: null, calls: 1, promptTokens: 2, completionTokens: 3, chargedMicro: 3 },
  ])
})

test('usageSteps has a column for every day, including 25-hour and empty days', () => {
  const data = [row('2026-10-25T00:00:00+02:00', 'a', 4), row('2026-10-26T00:00:00+01:00', 'a', 6)]
  expect(usageSteps(report(data), groupSums(data)).map(({ totalMicro }) => totalMicro)).toEqual([4, 6])
  expect(usageSteps(report(data.slice(1)), groupSums(data)).map(({ parts }) => parts)).toEqual([[0], [6]])
})

test('groups beyond the colored ones are combined without losing an amount', () => {
  const data = Array.from({ length: 20 }, (_, n) => row('2026-10-25T00:00:00+02:00', `m${n}`, n + 1))
  const [first] = usageSteps(report(data), groupSums(data))
  expect(first!.parts).toHaveLength(SHOWN_GROUPS + 1)
  expect(first!.parts.reduce((sum, part) => sum + part)).toBe(210)
  expect(first!.totalMicro).toBe(210)
})

const steps = ['2026-11-20T00:00:00+01:00', '2026-11-21T00:00:00+01:00', '2026-11-22T00:00:00+01:00'].map((at) => ({
  at,
  parts: [],
  totalMicro: 0,
}))
const end = '2026-11-22T23:00:00.000Z'

test('zoomOf spans from the earlier to the later step, in either order', () => {
  const zoom = { from: '2026-11-19T23:00:00.000Z', to: '2026-11-21T23:00:00.000Z' }
  expect([zoomOf(steps, end, 0, 1), zoomOf(steps, end, 1, 0)]).toEqual([zoom, zoom])
  expect(zoomOf(steps, end, 2, 2)).toEqual({ from: '2026-11-21T23:00:00.000Z', to: end })
})

test('stepAt clamps positions outside the chart to the first or last step', () => {
  expect([-0.1, 0, 0.5, 1, 1.4].map((share) => stepAt(share, 4))).toEqual([0, 0, 2, 3, 3])
})

test('a short zoom is queried by hour, and an invalid zoom is dropped from the URL', () => {
  const [from, to] = ['2026-11-19T23:00:00.000Z', '2026-11-21T23:00:00.000Z']
  const asked = (view: Record<string, unknown>) => usageQueryOf(usageView(view), new Date(end), 'UTC')
  expect(asked({ from, to })).toEqual({ by: 'model', step: 'hour', zone: 'UTC', from, to })
  expect(asked({ from: '2026-10-01T00:00:00.000Z', to }).step).toBe('day')
  expect([usageView({ from: to, to: from }), usageView({ from, to: 'soon' }), usageView({ from })]).toEqual([
    {},
    {},
    {},
  ])
})
