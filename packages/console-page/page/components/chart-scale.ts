import { usd } from './usd.ts'

/** Time and values of one column of a chart. */
export interface ChartStep {
  /** Start and end, ISO 8601. */
  from: string
  to: string
  /** Value of each series, bottom first; null: no value, only in a chart of lines. */
  values: (number | null)[]
  /** What a chart of lines has for all series together; null: no value. */
  total?: number | null
  /** Sum of the same step one period earlier; omitted without that data. */
  before?: number
}

/** Round multiples of 1, 2 or 5 from 0 to at least `most`: 0, 20, 40, 60 for 47. Never finer than 1. */
export function roundTicks(most: number, wanted = 4): number[] {
  const rough = Math.max(1, most) / wanted
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = Math.max(
    1,
    [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough * 0.999)!,
  )
  const last = Math.max(1, Math.ceil(most / step))
  return Array.from({ length: last + 1 }, (_, n) => n * step)
}

/** Index of the column at a horizontal position, from 0 at the left edge of the plot to 1 at the right. */
export function columnAt(share: number, count: number): number {
  return Math.max(0, Math.min(count - 1, Math.floor(share * count)))
}

/** Length of the steps of a chart. */
export type StepUnit = 'hour' | 'day' | 'month'

const EACH = { hour: [1, 2, 3, 6, 12, 24, 48], day: [1, 2, 5, 7, 14, 30, 60], month: [1, 2, 3, 6, 12] }

const HOUR_MS = 3_600_000

/**
 * Columns that get a label: evenly spaced, at most `most`. Hours are labeled at round hours of the zone, shorter steps
 * wherever they are.
 */
export function labeledColumns(
  steps: readonly ChartStep[],
  { step, zone, most }: { step: StepUnit; zone: string; most: number },
): number[] {
  const each = EACH[step].find((every) => Math.ceil(steps.length / every) <= most) ?? steps.length
  if (step !== 'hour') return [...steps.keys()].filter((n) => (steps.length - 1 - n) % each === 0)
  const [first] = steps
  if (first && Date.parse(first.to) - Date.parse(first.from) < HOUR_MS)
    return [...steps.keys()].filter((n) => n % each === 0)
  const hours = hoursIn(zone)
  const start = Math.max(
    0,
    steps.findIndex((one) => hours(one.from) % Math.min(each, 24) === 0),
  )
  return [...steps.keys()].filter((n) => n >= start && (n - start) % each === 0)
}

/** Hour of the day, 0 to 23, in a zone. */
function hoursIn(timeZone: string): (iso: string) => number {
  const format = new Intl.DateTimeFormat('en', { hour: 'numeric', hourCycle: 'h23', timeZone })
  return (iso) => Number(format.format(new Date(iso)))
}

/** Labels of times in a zone. Short ones are for the axis. */
export function timeLabels(step: StepUnit, timeZone: string) {
  if (step === 'month') {
    const short = new Intl.DateTimeFormat(undefined, { month: 'short', year: 'numeric', timeZone })
    const whole = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric', timeZone })
    return {
      short: (iso: string) => short.format(new Date(iso)),
      whole: ({ from }: ChartStep) => whole.format(new Date(from)),
    }
  }
  const day = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', timeZone })
  const hour = new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit', timeZone })
  const whole = new Intl.DateTimeFormat(undefined, {
    weekday: 'short',
    month: 'short',
    day: 'numeric',
    ...(step === 'hour' && { hour: 'numeric', minute: '2-digit' }),
    timeZone,
  })
  const hours = hoursIn(timeZone)
  return {
    short: (iso: string) => {
      const at = new Date(iso)
      return step === 'day' || hours(iso) === 0 ? day.format(at) : hour.format(at)
    },
    whole: ({ from, to }: ChartStep) =>
      step === 'day' ? whole.format(new Date(from)) : `${whole.format(new Date(from))} – ${hour.format(new Date(to))}`,
  }
}

const compact = new Intl.NumberFormat('en', { notation: 'compact' })

/** Count on an axis: 1200000 is 1.2M. */
export function countTick(value: number): string {
  return compact.format(value)
}

/** Milliseconds on an axis: 1500 is 1.5 s. */
export function msTick(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : `${compact.format(ms / 1_000)} s`
}

/** Micro-USD on an axis, all with the digits that the step needs: $0.010, $0.015. */
export function usdTick(micro: number, step: number): string {
  if (micro === 0) return '$0'
  const digits = (usd(step).split('.')[1] ?? '').length
  const [whole, fraction = ''] = usd(micro).split('.')
  return `${whole}.${fraction.padEnd(digits, '0')}`
}
