import { expect, test } from 'vitest'
import { dayOf, daysLeft, endsWithin, lastDays } from './pace.ts'

const now = new Date('2026-11-23T23:30:00.000Z')

test('days are left by the pace of the days before, and none is said where nothing was spent', () => {
  expect(daysLeft(10_000_000, 7_000_000, 7)).toBe(10)
  expect(daysLeft(999_999, 7_000_000, 7)).toBe(0)
  expect(daysLeft(10_000_000, 0, 7)).toBeNull()
})

test('a key ends soon until it has ended', () => {
  expect(endsWithin(14, '2026-12-07T23:30:00.000Z', now)).toBe(true)
  expect(endsWithin(14, '2026-12-07T23:30:00.001Z', now)).toBe(false)
  expect(endsWithin(14, '2026-11-23T23:30:00.000Z', now)).toBe(false)
  expect(endsWithin(14, null, now)).toBe(false)
})

test('days are those of UTC, whatever the hour', () => {
  expect(lastDays(3, now)).toEqual(['2026-11-21', '2026-11-22', '2026-11-23'])
  expect(dayOf(now, 1)).toBe('2026-11-24')
})
