import { timeZone } from '@gateway/api/time-zone'
import { isTiming, type Timing, timings } from './usage-latency.ts'
import { SHOWN_GROUPS, type Stacked, stacked } from './usage-stacks.ts'

/** What the chart can show. */
export const metrics = [...stacked, ...timings] as const
export type Metric = Stacked | Timing

/** Dimensions that usage can be grouped by. */
export const groupings = ['model', 'key', 'user', 'sandbox', 'tag'] as const
export type Grouping = (typeof groupings)[number]

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Selectable time ranges: a length in days, or months before the current one. */
export const ranges = {
  day: { days: 1 },
  week: { days: 7 },
  month: { days: 30 },
  quarter: { days: 90 },
  'this-month': { monthsAgo: 0 },
  'last-month': { monthsAgo: 1 },
  year: { days: 365 },
} as const
export type Range = keyof typeof ranges

/** View in the URL; spend by model over the last 30 days if omitted. */
export interface UsageView {
  by?: Grouping
  metric?: Metric
  range?: Range
  /** Custom range that replaces `range`, with both ends; ISO 8601, UTC. */
  from?: string
  to?: string
}

export function usageView(search: Record<string, unknown>): UsageView {
  const by = groupings.find((each) => each === search['by'])
  const metric = metrics.find((each) => each === search['metric'])
  const range = (Object.keys(ranges) as Range[]).find((each) => each === search['range'])
  return { ...(by && { by }), ...(metric && { metric }), ...(range && { range }), ...customIn(search) }
}

/** Longest period of one API request. */
const LONGEST_MS = 400 * DAY_MS
/** Longest period that is shown by hour. */
const LONGEST_BY_HOUR_MS = 8 * DAY_MS

function customIn({ from, to }: Record<string, unknown>): Pick<UsageView, 'from' | 'to'> {
  if (typeof from !== 'string' || typeof to !== 'string') return {}
  const ms = Date.parse(to) - Date.parse(from)
  return ms > 0 && ms <= LONGEST_MS ? { from, to } : {}
}

interface Period {
  from: Date
  to: Date
}

/**
 * Period of a view, at most up to the end of the current hour. Days, if it is not shown by hour, and months are those of
 * the user's time zone; today is one of the days.
 */
export function periodOf({ range = 'month', from, to }: UsageView, now: Date): Period {
  if (from !== undefined && to !== undefined) return { from: new Date(from), to: new Date(to) }
  const end = new Date(Math.ceil((now.getTime() + 1) / HOUR_MS) * HOUR_MS)
  const asked = ranges[range]
  const midnight = (monthsAgo: number, day: number) => new Date(now.getFullYear(), now.getMonth() - monthsAgo, day)
  if ('days' in asked) {
    const ms = asked.days * DAY_MS
    const isByHour = ms <= LONGEST_BY_HOUR_MS
    return { from: isByHour ? new Date(end.getTime() - ms) : midnight(0, now.getDate() - asked.days + 1), to: end }
  }
  const { monthsAgo } = asked
  return { from: midnight(monthsAgo, 1), to: monthsAgo === 0 ? end : midnight(monthsAgo - 1, 1) }
}

/**
 * API query for a view.
 * @param zone the user's time zone; hourly data falls back to UTC if its offset isn't a whole number of hours
 */
export function usageQueryOf(view: UsageView, now: Date, zone: string) {
  const { from, to } = periodOf(view, now)
  const step: 'hour' | 'day' = to.getTime() - from.getTime() <= LONGEST_BY_HOUR_MS ? 'hour' : 'day'
  const isWhole = now.getTimezoneOffset() % 60 === 0
  const { by = 'model', metric = 'spend' } = view
  const order = isTiming(metric) ? 'calls' : metric
  return {
    by,
    top: SHOWN_GROUPS,
    order,
    step,
    zone: step === 'day' || isWhole ? zone : 'UTC',
    from: from.toISOString(),
    to: to.toISOString(),
  }
}

/** The same query in UTC: an end at midnight in its zone moves to midnight UTC of that date. */
export function inUtc(query: ReturnType<typeof usageQueryOf>): ReturnType<typeof usageQueryOf> {
  const zone = timeZone(query.zone) ?? timeZone('UTC')!
  const moved = (time: string) => {
    const at = Date.parse(time)
    const clock = at + zone.offsetAt(at)
    return clock % DAY_MS === 0 ? new Date(clock).toISOString() : time
  }
  return { ...query, zone: 'UTC', from: moved(query.from), to: moved(query.to) }
}

/** Local date of a time as a date field takes it: 2026-11-20. */
export function dateText(at: Date): string {
  const two = (part: number) => String(part).padStart(2, '0')
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
}

/** Whole local days from one date to another, both included; null if they aren't a range of at most 400 days. */
export function daysBetween(first: string, last: string): { from: string; to: string } | null {
  const [from, to] = [new Date(`${first}T00:00:00`), new Date(`${last}T00:00:00`)]
  to.setDate(to.getDate() + 1)
  const ms = to.getTime() - from.getTime()
  return ms > 0 && ms <= LONGEST_MS ? { from: from.toISOString(), to: to.toISOString() } : null
}
