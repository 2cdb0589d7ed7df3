import { describe, expect, test } from 'vitest'
import { DAY_MS, daysOf, HOUR_MS, localTime, timeZone } from './time-zone.ts'

const at = (text: string) => Date.parse(text)
const starts = (name: string, from: string, to: string) => {
  const zone = timeZone(name)!
  return daysOf(zone, at(from), at(to)).map((ms) => localTime(zone, ms))
}

describe('a time zone', () => {
  test.each(['Europe/Berlin', 'europe/berlin', 'Asia/Kolkata', 'America/Argentina/Buenos_Aires', 'UTC', 'Etc/GMT-5'])(
    'accepts %s',
    (name) => expect(timeZone(name)?.name).toBe(name),
  )
  test.each(['', 'Mars/Base', '+01:00', 'Europe/Berlin; DROP', 'x'.repeat(65), '../UTC', 'Europe/'])(
    'rejects %j',
    (name) => expect(timeZone(name)).toBeNull(),
  )
  test('formats a time with its local offset', () => {
    const shown = (name: string) => localTime(timeZone(name)!, at('2026-07-01T20:30:00Z'))
    expect(['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'America/St_Johns'].map(shown)).toEqual([
      '2026-07-01T20:30:00+00:00',
      '2026-07-01T22:30:00+02:00',
      '2026-07-02T02:00:00+05:30',
      '2026-07-01T18:00:00-02:30',
    ])
  })
})

describe('the days of a zone', () => {
  test('start at local midnight, including when the clocks are set back', () => {
    expect(starts('Europe/Berlin', '2026-10-24T12:00:00Z', '2026-10-26T00:00:00Z')).toEqual([
      '2026-10-24T00:00:00+02:00',
      '2026-10-25T00:00:00+02:00',
      '2026-10-26T00:00:00+01:00',
      '2026-10-27T00:00:00+01:00',
    ])
  })
  test('include the last day that has started', () => {
    const day = ['2026-11-01T00:00:00+00:00', '2026-11-02T00:00:00+00:00']
    expect(starts('UTC', '2026-11-01T00:00:00Z', '2026-11-02T00:00:00Z')).toEqual(day)
    expect(starts('UTC', '2026-11-01T23:59:59.999Z', '2026-11-02T00:00:00Z')).toEqual(day)
  })
  test('start at 01:00 if midnight is skipped, and at the first midnight if it occurs twice', () => {
    expect(starts('Africa/Cairo', '2026-04-24T12:00:00Z', '2026-04-24T13:00:00Z')[0]).toBe('2026-04-24T01:00:00+03:00')
    expect(starts('America/Havana', '2026-11-01T12:00:00Z', '2026-11-01T13:00:00Z')).toEqual([
      '2026-11-01T00:00:00-04:00',
      '2026-11-02T00:00:00-05:00',
    ])
  })
  test('have 23, 24 or 25 hours and no gaps throughout a year', () => {
    for (const name of ['Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Adelaide', 'America/Havana']) {
      const days = daysOf(timeZone(name)!, at('2026-01-01T00:00:00Z'), at('2027-01-01T00:00:00Z'))
      const lengths = new Set(days.slice(1).map((day, n) => (day - days[n]!) / HOUR_MS))
      expect([name, [...lengths].every((hours) => [23, 24, 25].includes(hours))]).toEqual([name, true])
      expect(days.at(-1)! - days[0]!).toBeLessThanOrEqual(367 * DAY_MS)
    }
  })
})
