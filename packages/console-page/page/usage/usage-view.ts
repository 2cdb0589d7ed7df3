/** Dimensions that usage can be grouped by. */
export const groupings = ['model', 'key', 'sandbox'] as const
export type Grouping = (typeof groupings)[number]

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Length and step of each time range. */
export const ranges = {
  day: { ms: DAY_MS, step: 'hour' },
  week: { ms: 7 * DAY_MS, step: 'hour' },
  month: { ms: 30 * DAY_MS, step: 'day' },
  quarter: { ms: 91 * DAY_MS, step: 'day' },
  year: { ms: 365 * DAY_MS, step: 'day' },
} as const
export type Range = keyof typeof ranges

/** View in the URL; by model over the last 30 days if omitted. */
export interface UsageView {
  by?: Grouping
  range?: Range
  /** Zoom that replaces the range, with both ends; ISO 8601, UTC. */
  from?: string
  to?: string
}

export function usageView(search: Record<string, unknown>): UsageView {
  const by = groupings.find((each) => each === search['by'])
  const range = (Object.keys(ranges) as Range[]).find((each) => each === search['range'])
  return { ...(by && { by }), ...(range && { range }), ...zoomIn(search) }
}

/** Longest period of one API request. */
const LONGEST_ZOOM_MS = 400 * DAY_MS
/** Longest zoom that is shown by hour. */
const LONGEST_BY_HOUR_MS = 8 * DAY_MS

function zoomIn({ from, to }: Record<string, unknown>): Pick<UsageView, 'from' | 'to'> {
  if (typeof from !== 'string' || typeof to !== 'string') return {}
  const ms = Date.parse(to) - Date.parse(from)
  return ms > 0 && ms <= LONGEST_ZOOM_MS ? { from, to } : {}
}

/**
 * API query for a view, up to the end of the current hour.
 * @param zone the user's time zone; hourly data falls back to UTC if its offset isn't a whole number of hours
 */
export function usageQueryOf({ by = 'model', range = 'month', ...zoom }: UsageView, now: Date, zone: string) {
  const { ms } = ranges[range]
  const to = Math.ceil((now.getTime() + 1) / HOUR_MS) * HOUR_MS
  const whole = { from: new Date(to - ms).toISOString(), to: new Date(to).toISOString() }
  const asked = zoom.from !== undefined && zoom.to !== undefined ? { from: zoom.from, to: zoom.to } : null
  const step = asked ? stepOf(asked) : ranges[range].step
  const isWhole = now.getTimezoneOffset() % 60 === 0
  return { by, step, zone: step === 'day' || isWhole ? zone : 'UTC', ...(asked ?? whole) }
}

function stepOf({ from, to }: { from: string; to: string }): 'hour' | 'day' {
  return Date.parse(to) - Date.parse(from) <= LONGEST_BY_HOUR_MS ? 'hour' : 'day'
}
