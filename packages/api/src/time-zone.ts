// Hours and days of a named time zone as Unix times. Offsets come from the runtime's ICU data.

const SECOND_MS = 1_000
export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS
/** Longer than any day of a zone. */
const LONGEST_DAY_MS = 27 * HOUR_MS

export interface TimeZone {
  name: string
  /** Returns the offset from UTC at a time. Both are in milliseconds, like all times in this file. */
  offsetAt(ms: number): number
}

/** Returns the IANA time zone with this name, or null. An offset such as `+01:00` is not a name. */
export function timeZone(name: string): TimeZone | null {
  if (!/^[A-Za-z][A-Za-z0-9_+\-/]{0,63}$/.test(name)) return null
  let format: Intl.DateTimeFormat
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  } catch {
    return null
  }
  return {
    name,
    offsetAt(ms) {
      const shown = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]))
      const { year, month, day, hour, minute, second } = shown as Record<string, number>
      const local = Date.UTC(year!, month! - 1, day, hour, minute, second)
      return local - Math.floor(ms / SECOND_MS) * SECOND_MS
    },
  }
}

/**
 * Returns the starts of the zone's days, from the day that contains `from`, and last the end of the day before `to`.
 */
export function daysOf(zone: TimeZone, from: number, to: number): number[] {
  const starts = [firstOfDay(zone, from)]
  while (starts.at(-1)! < to) starts.push(nextDay(zone, starts.at(-1)!))
  return starts
}

/** Formats a time with its local offset, such as `2026-11-02T00:00:00+01:00`. */
export function localTime(zone: TimeZone, ms: number): string {
  const offset = zone.offsetAt(ms)
  const minutes = Math.abs(Math.round(offset / 60_000))
  const two = (count: number) => String(count).padStart(2, '0')
  const local = new Date(ms + offset).toISOString().slice(0, 19)
  return `${local}${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}

function dayOf({ offsetAt }: TimeZone, ms: number): number {
  return Math.floor((ms + offsetAt(ms)) / DAY_MS)
}

/** Returns the start of the day that contains a time. A clock change can make it differ from midnight. */
function firstOfDay(zone: TimeZone, ms: number): number {
  const day = dayOf(zone, ms)
  return firstWhere((at) => dayOf(zone, at) >= day, ms - LONGEST_DAY_MS, ms)
}

function nextDay(zone: TimeZone, start: number): number {
  const day = dayOf(zone, start)
  const usual = start + DAY_MS
  if (dayOf(zone, usual) > day && dayOf(zone, usual - 1) === day) return usual
  return firstWhere((at) => dayOf(zone, at) > day, start, start + LONGEST_DAY_MS)
}

/** Returns the first time after `before` at which the condition is true; it must be true at `sure`. */
function firstWhere(isSo: (ms: number) => boolean, before: number, sure: number): number {
  let [low, high] = [before, sure]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (isSo(middle)) high = middle
    else low = middle
  }
  return high
}
