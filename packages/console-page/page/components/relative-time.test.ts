import { expect, test } from 'vitest'
import { relativeTime } from './relative-time.ts'

const NOW = Date.parse('2026-11-27T12:00:00Z')
const at = (seconds: number) => relativeTime(NOW + seconds * 1_000, NOW)

test.for([
  [-5, 'just now'],
  [5, 'in a moment'],
  [-60, '1 minute ago'],
  [-180, '3 minutes ago'],
  [-3_569, '59 minutes ago'],
  [-3_571, '1 hour ago'],
  [7_200, 'in 2 hours'],
  [-86_300, 'yesterday'],
  [86_400, 'tomorrow'],
  [-29 * 86_400, '29 days ago'],
] as const)('shows %i seconds from now as "%s"', ([seconds, text]) => {
  expect(at(seconds)).toBe(text)
})

test('shows no relative time for more than 30 days', () => {
  expect([at(-30 * 86_400), at(31 * 86_400)]).toEqual([null, null])
})
