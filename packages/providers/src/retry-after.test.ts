import { expect, test } from 'vitest'
import { retryAfterMs } from './try-routes.ts'

const nowMs = Date.parse('2026-03-14T09:00:00Z')

test.each([
  [{ 'retry-after': '7' }, 7_000],
  [{ 'retry-after': 'Sat, 14 Mar 2026 09:00:05 GMT' }, 5_000],
  [{ 'retry-after': 'Sat, 14 Mar 2026 08:00:00 GMT' }, 0],
  [{ 'retry-after-ms': '250', 'retry-after': '7' }, 250],
  [{ 'retry-after': '99999999' }, 3_600_000],
  [{ 'retry-after': '-1' }, 0],
  [{ 'retry-after': 'soon' }, undefined],
  [{ 'retry-after': ['1', '2'] }, undefined],
  [{}, undefined],
])('reads %j as %s ms', (headers: Record<string, string | string[]>, expected) => {
  expect(retryAfterMs(headers, nowMs)).toBe(expected)
})
