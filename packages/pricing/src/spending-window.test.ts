import fc from 'fast-check'
import { describe, expect, test, inject } from 'vitest'
import { windowEndMs, windowStartMs, type Reset } from './spending-window.ts'

const HOUR_MS = 3_600_000
const resets: Reset[] = ['daily', 'weekly', 'monthly', 'lifetime']
const instant = fc.integer({ min: Date.UTC(1970, 0, 5), max: Date.UTC(2199, 11, 31, 23, 59, 59, 999) })

// The slow oracle: the Gregorian calendar counted day by day from Thursday, 1 January 1970, with no date library.
interface Day {
  startMs: number
  weekday: number // 0 is Monday
  dayOfMonth: number
}
const days: Day[] = []
for (let year = 1970, weekday = 3; year <= 2200; year++) {
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  for (const length of [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]) {
    for (let dayOfMonth = 1; dayOfMonth <= length; dayOfMonth++, weekday = (weekday + 1) % 7)
      days.push({ startMs: days.length * 24 * HOUR_MS, weekday, dayOfMonth })
  }
}
function slowStart(reset: Reset, nowMs: number): number {
  if (reset === 'lifetime') return 0
  let at = Math.floor(nowMs / (24 * HOUR_MS))
  if (reset === 'weekly') while (days[at]!.weekday !== 0) at--
  if (reset === 'monthly') while (days[at]!.dayOfMonth !== 1) at--
  return days[at]!.startMs
}
function slowEnd(reset: Reset, startMs: number): number | null {
  if (reset === 'lifetime') return null
  let at = Math.floor(startMs / (24 * HOUR_MS))
  do at++
  while (
    (reset === 'weekly' && days[at] && days[at]!.weekday !== 0) ||
    (reset === 'monthly' && days[at] && days[at]!.dayOfMonth !== 1)
  )
  return at * 24 * HOUR_MS
}

describe.each(resets)('the %s window', (reset) => {
  test('matches a calendar counted day by day', () => {
    fc.assert(
      fc.property(instant, (nowMs) => {
        const start = windowStartMs(reset, nowMs)
        expect(start).toBe(slowStart(reset, nowMs))
        expect(windowEndMs(reset, start)).toBe(slowEnd(reset, start))
      }),
      { numRuns: 5_000 * inject('propertyShare') },
    )
  })

  test('matches the calendar at the edges of every day of two centuries', () => {
    for (const { startMs } of days.slice(7)) {
      for (const nowMs of [startMs - 1, startMs]) {
        const start = windowStartMs(reset, nowMs)
        if (start !== slowStart(reset, nowMs))
          expect.fail(`${new Date(nowMs).toISOString()}: ${new Date(start).toISOString()}`)
      }
    }
  })

  test('contains its instants, and ends where the next window starts', () => {
    fc.assert(
      fc.property(instant, (nowMs) => {
        const start = windowStartMs(reset, nowMs)
        const end = windowEndMs(reset, start)
        expect(start).toBeLessThanOrEqual(nowMs)
        if (end === null) return
        expect(end).toBeGreaterThan(nowMs)
        expect(windowStartMs(reset, end)).toBe(end)
        expect(windowStartMs(reset, end - 1)).toBe(start)
      }),
    )
  })
})

const at = (text: string) => Date.parse(text)
const text = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString())

test.each([
  ['daily', '2026-11-20T23:59:59.999Z', '2026-11-20T00:00:00.000Z', '2026-11-21T00:00:00.000Z'],
  ['weekly', '2026-11-22T23:59:59.999Z', '2026-11-16T00:00:00.000Z', '2026-11-23T00:00:00.000Z'], // Sunday ends it
  ['weekly', '2026-11-23T00:00:00.000Z', '2026-11-23T00:00:00.000Z', '2026-11-30T00:00:00.000Z'],
  ['weekly', '2027-01-01T12:00:00.000Z', '2026-12-28T00:00:00.000Z', '2027-01-04T00:00:00.000Z'], // week 53 of 2026
  ['monthly', '2028-02-29T12:00:00.000Z', '2028-02-01T00:00:00.000Z', '2028-03-01T00:00:00.000Z'],
  ['monthly', '2100-02-28T23:59:59.999Z', '2100-02-01T00:00:00.000Z', '2100-03-01T00:00:00.000Z'], // not a leap year
  ['monthly', '2026-12-31T23:59:59.999Z', '2026-12-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z'],
  ['lifetime', '2026-11-20T12:00:00.000Z', '1970-01-01T00:00:00.000Z', null],
] as const)('the %s window at %s is %s to %s', (reset, now, start, end) => {
  expect(text(windowStartMs(reset, at(now)))).toBe(start)
  expect(text(windowEndMs(reset, at(start)))).toBe(end)
})
