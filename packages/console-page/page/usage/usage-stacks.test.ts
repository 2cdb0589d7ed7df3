import { expect, test } from 'vitest'
import { usageReportOf, type UsageRow } from './usage-report.fixture.ts'
import { emptySteps, queryBefore, seriesOf, SHOWN_GROUPS, usageSteps, withBefore, zoomOf } from './usage-stacks.ts'
import { dateText, daysBetween, periodOf, usageQueryOf, usageView } from './usage-view.ts'

const row = (time: string, group: string | null, chargedMicro: number): UsageRow => ({
  time,
  group,
  calls: 1,
  promptTokens: 2,
  completionTokens: 3,
  chargedMicro,
  errors: 0,
})
const period = {
  from: '2026-10-24T22:00:00.000Z', // midnight in Berlin, where the next day has 25 hours
  to: '2026-10-26T23:00:00.000Z',
  by: 'model',
  step: 'day',
  zone: 'Europe/Berlin',
} as const
const report = (data: UsageRow[]) => usageReportOf(period, data)

const total = (values: readonly (number | null)[]) => values.reduce<number>((sum, value) => sum + value!, 0)

test('usageSteps has a column for every day, including 25-hour and empty days', () => {
  const data = [row('2026-10-25T00:00:00+02:00', 'a', 4), row('2026-10-26T00:00:00+01:00', 'a', 6)]
  expect(usageSteps(report(data))).toEqual([
    { from: '2026-10-24T22:00:00.000Z', to: '2026-10-25T23:00:00.000Z', values: [4] },
    { from: '2026-10-25T23:00:00.000Z', to: '2026-10-26T23:00:00.000Z', values: [6] },
  ])
  expect(usageSteps(report(data.slice(1))).map(({ values }) => values)).toEqual([[0], [6]])
  expect(usageSteps(report(data), 'tokens').map(({ values }) => values)).toEqual([[5], [5]])
})

test('days without calls start at local midnight after a clock change', () => {
  const { steps } = emptySteps(usageReportOf({ ...period, to: '2026-10-28T23:00:00.000Z' }, []), () => [])
  expect(steps.map(({ from }) => from)).toEqual([
    '2026-10-24T22:00:00.000Z',
    '2026-10-25T23:00:00.000Z',
    '2026-10-26T23:00:00.000Z',
    '2026-10-27T23:00:00.000Z',
  ])
})

test('the period before has as many local days, so that each day is compared with one day', () => {
  // 11 October to 10 November in Berlin, 31 days and an hour
  const query = {
    from: '2026-10-10T22:00:00.000Z',
    to: '2026-11-10T23:00:00.000Z',
    step: 'day',
    zone: period.zone,
  } as const
  const before = queryBefore(query)
  expect(before).toEqual({ ...query, from: '2026-09-09T22:00:00.000Z', to: query.from })
  const steps = usageSteps(usageReportOf({ ...query, by: 'model' }, []))
  const earlier = usageReportOf({ ...before, by: 'model' }, [row('2026-10-10T00:00:00+02:00', 'a', 7)])
  expect(withBefore(steps, earlier, 'spend').map((step) => step.before)).toEqual([...Array<number>(30).fill(0), 7])
  const hours = { ...query, from: '2026-11-10T21:00:00.000Z', step: 'hour' } as const
  expect(queryBefore(hours)).toMatchObject({ from: '2026-11-10T19:00:00.000Z', to: hours.from })
})

test('groups beyond the colored ones are combined without losing an amount', () => {
  const data = Array.from({ length: 20 }, (_, n) => row('2026-10-25T00:00:00+02:00', `m${n}`, n + 1))
  const shown = [20, 19, 18, 17, 16, 15]
  const whole = report(data)
  const top = { ...whole, data: data.filter(({ chargedMicro }) => chargedMicro > 20 - SHOWN_GROUPS) }
  for (const each of [whole, top]) expect(usageSteps(each)[0]!.values).toEqual([...shown, 210 - total(shown)])
  expect(seriesOf(top, String).map(({ name }) => name)).toEqual([...shown.map((n) => `m${n - 1}`), 'Others'])
  expect(seriesOf(report(data.slice(0, SHOWN_GROUPS + 1)), String).at(-1)).toEqual({ name: 'm0', color: SHOWN_GROUPS })
})

test('withBefore adds the sum of the same step of the earlier report', () => {
  const data = [row('2026-10-26T00:00:00+01:00', 'a', 6)]
  const earlier = [row('2026-10-25T00:00:00+02:00', 'x', 1), row('2026-10-25T00:00:00+02:00', 'y', 2)]
  const steps = withBefore(usageSteps(report(data)), report(earlier), 'spend')
  expect(steps.map(({ before }) => before)).toEqual([3, 0])
  expect(queryBefore({ from: '2026-10-03T00:00:00.000Z', to: '2026-10-05T00:00:00.000Z' })).toEqual({
    from: '2026-10-01T00:00:00.000Z',
    to: '2026-10-03T00:00:00.000Z',
  })
})

test('zoomOf spans from the start of one step to the end of another', () => {
  const steps = ['20', '21', '22'].map((day) => ({
    from: `2026-11-${day}T00:00:00.000Z`,
    to: `2026-11-${Number(day) + 1}T00:00:00.000Z`,
    values: [],
  }))
  expect(zoomOf(steps, 0, 1)).toEqual({ from: '2026-11-20T00:00:00.000Z', to: '2026-11-22T00:00:00.000Z' })
})

const end = '2026-11-22T23:00:00.000Z'

test('a short range is queried by hour, and an invalid one is dropped from the URL', () => {
  const [from, to] = ['2026-11-19T23:00:00.000Z', '2026-11-21T23:00:00.000Z']
  const asked = (view: Record<string, unknown>) => usageQueryOf(usageView(view), new Date(end), 'UTC')
  expect(asked({ from, to })).toEqual({
    by: 'model',
    top: SHOWN_GROUPS,
    order: 'spend',
    step: 'hour',
    zone: 'UTC',
    from,
    to,
  })
  expect(asked({ from: '2026-10-01T00:00:00.000Z', to }).step).toBe('day')
  expect([usageView({ from: to, to: from }), usageView({ from, to: 'soon' }), usageView({ from })]).toEqual([
    {},
    {},
    {},
  ])
})

test('months, ranges shown by day and date fields are whole days of local time', () => {
  const now = new Date(2026, 10, 22, 10, 30)
  const days = (range: 'this-month' | 'last-month') => {
    const { from, to } = periodOf({ range }, now)
    return [from, to].map(dateText)
  }
  expect(days('last-month')).toEqual(['2026-10-01', '2026-11-01'])
  expect(days('this-month')).toEqual(['2026-11-01', '2026-11-22'])
  for (const clock of [
    [10, 30],
    [23, 30],
    [0, 0],
  ] as const) {
    const { from } = periodOf({ range: 'month' }, new Date(2026, 10, 22, ...clock))
    expect(from, `30 days at ${clock.join(':')}`).toEqual(new Date(2026, 9, 24))
  }
  const range = daysBetween('2026-11-20', '2026-11-21')!
  expect([range.from, range.to].map((time) => dateText(new Date(time)))).toEqual(['2026-11-20', '2026-11-22'])
  expect([daysBetween('2026-11-21', '2026-11-20'), daysBetween('0002-11-20', '2026-11-20')]).toEqual([null, null])
})
