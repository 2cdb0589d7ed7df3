import { expect, test } from 'vitest'
import { dayOf, daysLeft, endsWithin } from './use-spending.ts'

const now = new Date('2026-11-23T23:30:00.000Z')

test('daysLeft extrapolates recent spending and returns null without any', () => {
  expect(daysLeft(10_000_000, 7_000_000, 7)).toBe(10)
  expect(daysLeft(999_999, 7_000_000, 7)).toBe(0)
  expect(daysLeft(10_000_000, 0, 7)).toBeNull()
})

test('endsWithin is true from the given number of days before the end until the end', () => {
  expect(endsWithin(14, '2026-12-07T23:30:00.000Z', now)).toBe(true)
  expect(endsWithin(14, '2026-12-07T23:30:00.001Z', now)).toBe(false)
  expect(endsWithin(14, '2026-11-23T23:30:00.000Z', now)).toBe(false)
  expect(endsWithin(14, null, now)).toBe(false)
})

test('dayOf uses UTC days at any hour', () => {
  expect([dayOf(now, -2), dayOf(now), dayOf(now, 1)]).toEqual(['2026-11-21', '2026-11-23', '2026-11-24'])
})
