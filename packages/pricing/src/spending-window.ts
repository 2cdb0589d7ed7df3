export type Reset = 'daily' | 'weekly' | 'monthly' | 'lifetime'

const DAY_MS = 86_400_000

/** Start of the window that contains `nowMs`: UTC midnight, ISO Monday, the first of the month, the epoch. Unix ms. */
export function windowStartMs(reset: Reset, nowMs: number): number {
  const day = Math.floor(nowMs / DAY_MS) * DAY_MS
  const date = new Date(day)
  switch (reset) {
    case 'daily':
      return day
    case 'weekly':
      return day - ((date.getUTCDay() + 6) % 7) * DAY_MS
    case 'monthly':
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1)
    case 'lifetime':
      return 0
  }
}

/** End of a window that starts at `startMs`; null: never. Unix milliseconds. */
export function windowEndMs(reset: Reset, startMs: number): number | null {
  const start = new Date(startMs)
  switch (reset) {
    case 'daily':
      return startMs + DAY_MS
    case 'weekly':
      return startMs + 7 * DAY_MS
    case 'monthly':
      return Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 1)
    case 'lifetime':
      return null
  }
}

/** End of the window that starts at `start` (ISO 8601), in the format of `resetsAt`; null: never. */
export function resetsAt(reset: Reset, start: string): string | null {
  const endMs = windowEndMs(reset, Date.parse(start))
  return endMs === null ? null : isoSeconds(new Date(endMs))
}

/** ISO 8601 in UTC, to the second. */
export function isoSeconds(moment: Date): string {
  return moment.toISOString().replace(/\.\d{3}Z$/, 'Z')
}
