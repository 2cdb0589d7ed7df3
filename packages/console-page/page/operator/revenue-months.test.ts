import { expect, test } from 'vitest'
import { knownShare, marginRate, monthsOf, rateText, revenueChart, shareText } from './revenue-months.ts'

const none = {
  calls: 0,
  promptTokens: 0,
  completionTokens: 0,
  chargedMicro: 0,
  costedCalls: 0,
  costedMicro: 0,
  costMicro: null,
  marginMicro: null,
}
const known = { ...none, calls: 2, chargedMicro: 100, costedCalls: 2, costedMicro: 100, costMicro: 60, marginMicro: 40 }
const half = { ...known, calls: 4, chargedMicro: 200 }
const unknown = { ...none, calls: 5, chargedMicro: 500 }
const rowOf = (month: string, figures: typeof half | typeof unknown) => ({
  ...figures,
  month,
  product: 'acme/swift',
  productName: 'Swift',
})

test('months without calls are part of a report, and a cost that no row has is unknown', () => {
  const data = [rowOf('2026-02', known), rowOf('2026-02', unknown), rowOf('2025-12', unknown)]
  expect(monthsOf({ from: '2025-12', to: '2026-02', data })).toEqual([
    { ...known, month: '2026-02', calls: 7, chargedMicro: 600 },
    { ...none, month: '2026-01' },
    { ...unknown, month: '2025-12' },
  ])
})

test('the chart has charges with and without a known cost next to the cost, oldest month first', () => {
  const months = monthsOf({ from: '2025-12', to: '2026-01', data: [rowOf('2026-01', half)] })
  const { series, steps } = revenueChart(months)
  expect(series.map(({ name, stack }) => [name, stack])).toEqual([
    ['Charged, cost known', 'charged'],
    ['Charged, cost unknown', 'charged'],
    ['Provider cost', 'cost'],
  ])
  expect(steps).toEqual([
    { from: '2025-12-01T00:00:00.000Z', to: '2026-01-01T00:00:00.000Z', values: [0, 0, 0] },
    { from: '2026-01-01T00:00:00.000Z', to: '2026-02-01T00:00:00.000Z', values: [100, 100, 60] },
  ])
  const whole = revenueChart(monthsOf({ from: '2026-01', to: '2026-01', data: [rowOf('2026-01', known)] }))
  expect([whole.series.map(({ name }) => name), whole.steps[0]!.values]).toEqual([
    ['Charged', 'Provider cost'],
    [100, 60],
  ])
})

test('a margin is a share of the charges whose cost is known', () => {
  expect([marginRate(known), marginRate(half), marginRate(unknown), marginRate(none)]).toEqual([0.4, 0.4, null, null])
  expect(rateText(marginRate({ ...known, costMicro: 150, marginMicro: -50 })!)).toBe('-50%')
  expect(marginRate({ ...known, costedMicro: 0, marginMicro: -60 })).toBeNull()
})

test('the known share is never rounded up to all', () => {
  expect([knownShare(known), knownShare(half), knownShare(unknown), knownShare(none)]).toEqual([1, 0.5, 0, null])
  expect(knownShare({ ...known, calls: 4, chargedMicro: 0, costedMicro: 0 })).toBe(0.5)
  expect([shareText(1), shareText(0.99999), shareText(0.5)]).toEqual(['100%', '99.9%', '50%'])
})
