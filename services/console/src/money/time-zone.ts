// Hours and days of a named time zone as moments. What a zone's clocks showed is read from the runtime's own tables (ICU).

const SECOND_MS = 1_000
export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS
/** Longer than any day of a zone. */
const LONGEST_DAY_MS = 27 * HOUR_MS

export interface TimeZone {
  name: string
  /** What its clocks were ahead of UTC at a moment, in milliseconds. Takes and answers Unix milliseconds, as all of this does. */
  offsetAt(ms: number): number
}

/** A zone of the IANA database by its name; null: there is none. An offset such as `+01:00` is not a name. */
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

/** The beginnings of the days of a zone from the one that `from` lies in on, and at last the end of the one before `to`. */
export function daysOf(zone: TimeZone, from: number, to: number): number[] {
  const starts = [firstOfDay(zone, from)]
  while (starts.at(-1)! < to) starts.push(nextDay(zone, starts.at(-1)!))
  return starts
}

/** A moment as its zone's clocks show it, such as `2026-11-02T00:00:00+01:00`. */
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

/** The first moment of the day that a moment lies in: not always midnight, where clocks are put on or back. */
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

/** The first moment behind `before` for which something is so, which is so at `sure`. */
function firstWhere(isSo: (ms: number) => boolean, before: number, sure: number): number {
  let [low, high] = [before, sure]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (isSo(middle)) high = middle
    else low = middle
  }
  return high
}
