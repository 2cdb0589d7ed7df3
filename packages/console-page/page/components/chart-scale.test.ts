import { expect, test } from 'vitest'
import { columnAt, labeledColumns, roundTicks, timeLabels, usdTick } from './chart-scale.ts'

const HOUR_MS = 3_600_000
const stepsOf = (from: string, count: number, ms: number) =>
  Array.from({ length: count }, (_, n) => ({
    from: new Date(Date.parse(from) + n * ms).toISOString(),
    to: new Date(Date.parse(from) + (n + 1) * ms).toISOString(),
    values: [],
  }))

test('roundTicks are multiples of 1, 2 or 5 that cover the largest value', () => {
  expect(roundTicks(47)).toEqual([0, 20, 40, 60])
  expect(roundTicks(120_000)).toEqual([0, 50_000, 100_000, 150_000])
  expect(roundTicks(2)).toEqual([0, 1, 2])
  expect(roundTicks(0)).toEqual([0, 1])
  for (const most of [1, 3, 9, 99, 1001, 123_456_789]) {
    const ticks = roundTicks(most)
    expect(ticks.at(-1)).toBeGreaterThanOrEqual(most)
    expect(ticks.length).toBeLessThanOrEqual(6)
  }
})

test('columnAt clamps positions outside the plot to the first or last column', () => {
  expect([-0.1, 0, 0.5, 1, 1.4].map((share) => columnAt(share, 4))).toEqual([0, 0, 2, 3, 3])
})

test('labels of hours fall on round hours of the zone, and labels of days end at the last day', () => {
  const hours = stepsOf('2026-11-20T13:00:00.000Z', 24, HOUR_MS)
  const labeled = labeledColumns(hours, { step: 'hour', zone: 'Europe/Berlin', most: 8 })
  const { short } = timeLabels('hour', 'Europe/Berlin')
  expect(labeled).toEqual([1, 4, 7, 10, 13, 16, 19, 22])
  expect(short(hours[10]!.from)).toMatch(/20|21/)
  const minutes = stepsOf('2026-11-20T08:25:00.000Z', 13, HOUR_MS / 12)
  expect(labeledColumns(minutes, { step: 'hour', zone: 'UTC', most: 7 })).toEqual([0, 2, 4, 6, 8, 10, 12])
  const days = stepsOf('2026-11-01T00:00:00.000Z', 30, 24 * HOUR_MS)
  expect(labeledColumns(days, { step: 'day', zone: 'UTC', most: 7 })).toEqual([4, 9, 14, 19, 24, 29])
})

test('months are labeled with their year, up to the last one', () => {
  const months = Array.from({ length: 12 }, (_, n) => ({
    from: new Date(Date.UTC(2025, 11 + n)).toISOString(),
    to: new Date(Date.UTC(2026, n)).toISOString(),
    values: [],
  }))
  expect(labeledColumns(months, { step: 'month', zone: 'UTC', most: 6 })).toEqual([1, 3, 5, 7, 9, 11])
  const { short, whole } = timeLabels('month', 'UTC')
  expect(short(months[0]!.from)).toBe('Dec 2025')
  expect(whole(months[1]!)).toBe('January 2026')
})

test('amounts on an axis have the digits of its step', () => {
  expect([0, 5_000, 10_000, 1_500_000].map((micro) => usdTick(micro, 5_000))).toEqual([
    '$0',
    '$0.005',
    '$0.010',
    '$1.500',
  ])
})
