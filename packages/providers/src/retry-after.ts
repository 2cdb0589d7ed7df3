const longestMs = 3_600_000

/**
 * What `retry-after-ms` or `Retry-After` (seconds or an HTTP date) asks for, in milliseconds, at most an hour.
 * `nowMs` is the wall clock.
 */
export function retryAfterMs(
  headers: Record<string, string | string[] | undefined>,
  nowMs: number,
): number | undefined {
  const exact = Number(headers['retry-after-ms'] ?? Number.NaN)
  if (exact >= 0) return Math.min(exact, longestMs)
  const given = headers['retry-after']
  if (typeof given !== 'string' || given === '') return undefined
  const seconds = Number(given)
  const waitMs = Number.isNaN(seconds) ? Date.parse(given) - nowMs : seconds * 1_000
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(waitMs, 0), longestMs)
}
