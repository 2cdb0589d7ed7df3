import { expect, test } from 'vitest'
import { endOf, isMonth, monthBefore, monthsToArchive, nextMonth, overdueDays } from './month.ts'

const books = {
  now: new Date('2026-11-22T08:00:00Z'),
  oldest: '2026-07' as string | null,
  archived: [] as { month: string }[],
}
const due = (afterDays: number, more: Partial<typeof books> = {}, before: string | null = null) =>
  monthsToArchive({ ...books, ...more }, { afterDays, before })

test('a month is due once it ended more than the configured number of days ago', () => {
  expect(due(62)).toEqual(['2026-07', '2026-08'])
  expect(due(31)).toEqual(['2026-07', '2026-08', '2026-09'])
  expect(due(52, { now: new Date('2026-11-22T00:00:00Z') })).toEqual(['2026-07', '2026-08'])
  expect(due(52, { now: new Date('2026-11-22T00:00:00.001Z') })).toEqual(['2026-07', '2026-08', '2026-09'])
})

test('months are archived in order, starting after the last archived one', () => {
  expect(due(31, { archived: [{ month: '2026-07' }] })).toEqual(['2026-08', '2026-09'])
  expect(due(31, { archived: [{ month: '2026-07' }, { month: '2026-08' }], oldest: '2026-10' })).toEqual(['2026-09'])
  expect(due(31, {}, '2026-08')).toEqual(['2026-07'])
})

test('the oldest due month determines how long archiving is overdue', () => {
  const now = new Date('2026-11-22T00:00:00Z')
  expect(overdueDays({ ...books, now, archived: [{ month: '2026-08' }] }, 31)).toBe(52 - 31)
  expect(overdueDays({ ...books, now, archived: [{ month: '2026-08' }] }, 62)).toBe(0)
})

test('empty books have no month to archive', () => {
  expect(due(31, { oldest: null })).toEqual([])
})

test('months continue across the end of a year', () => {
  expect([nextMonth('2026-12'), monthBefore('2027-01'), endOf('2026-12')]).toEqual([
    '2027-01',
    '2026-12',
    new Date('2027-01-01T00:00:00Z'),
  ])
  expect(['2026-00', '2026-13', '2026-1', '26-01', '2026-01-01', ''].filter(isMonth)).toEqual([])
})
