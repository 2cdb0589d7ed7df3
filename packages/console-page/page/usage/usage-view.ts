/** What usage is grouped by, and how far back it is shown. */
export const groupings = ['model', 'key', 'sandbox'] as const
export type Grouping = (typeof groupings)[number]

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** How long each range is, and what it is divided into. */
export const ranges = {
  day: { ms: DAY_MS, step: 'hour' },
  week: { ms: 7 * DAY_MS, step: 'hour' },
  month: { ms: 30 * DAY_MS, step: 'day' },
  quarter: { ms: 91 * DAY_MS, step: 'day' },
  year: { ms: 365 * DAY_MS, step: 'day' },
} as const
export type Range = keyof typeof ranges

/** As the address has it; left out: by model, the last 30 days. */
export interface UsageView {
  by?: Grouping
  range?: Range
  /** Of a zoom, both of them, in place of a range; ISO 8601, UTC. */
  from?: string
  to?: string
}

export function usageView(search: Record<string, unknown>): UsageView {
  const by = groupings.find((each) => each === search['by'])
  const range = (Object.keys(ranges) as Range[]).find((each) => each === search['range'])
  return { ...(by && { by }), ...(range && { range }), ...zoomIn(search) }
}

/** As long as the API answers at once. */
const LONGEST_ZOOM_MS = 400 * DAY_MS
/** Up to here a zoom is divided into hours. */
const LONGEST_BY_HOUR_MS = 8 * DAY_MS

function zoomIn({ from, to }: Record<string, unknown>): Pick<UsageView, 'from' | 'to'> {
  if (typeof from !== 'string' || typeof to !== 'string') return {}
  const ms = Date.parse(to) - Date.parse(from)
  return ms > 0 && ms <= LONGEST_ZOOM_MS ? { from, to } : {}
}

/**
 * What the API is asked for, up to the end of this hour.
 * @param zone of the reader; hours of one whose hours are not those of UTC are shown in UTC
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
