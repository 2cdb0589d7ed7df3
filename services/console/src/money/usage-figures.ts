import type { UsageFigures } from '@gateway/api/console/money'
import { invalidField } from '../request/check.ts'
import { DAY_MS, daysOf, HOUR_MS, timeZone, type TimeZone } from '@gateway/api/time-zone'

// Percentiles of durations that are counted in buckets (money §9.6). Bucket b holds the durations above 1.1^(b-1) ms, up
// to 1.1^b ms, and a percentile is shown as the value whose distance to both ends is the same share of them. So it is
// within 1/21 of the exact one, below 5 %, and rounded to a millisecond.

/** Calls by bucket. */
export type Histogram = Map<number, number>

/** Calls with their tokens, charges and durations, and how many failed. */
export interface UsageSums {
  calls: bigint
  prompt: bigint
  completion: bigint
  /** Micro-USD. */
  charged: bigint
  errors: bigint
  durations: Histogram
  firstTokens: Histogram
}

const GROWTH = 1.1

/** Above the bucket of an hour, the longest duration. */
const BUCKETS = 160
/** Bytes of a record: see money.pack_histogram. */
const RECORD = 6

/** Reads concatenated histograms of money.usage_hours, which add up. */
export function readHistogram(bytes: Uint8Array | null): Histogram {
  if (bytes === null) return new Map()
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const calls = new Float64Array(BUCKETS) // faster than a map for a million records
  for (let at = 0; at < bytes.byteLength; at += RECORD) calls[view.getInt16(at)]! += view.getInt32(at + 2)
  const histogram: Histogram = new Map()
  for (const [bucket, count] of calls.entries()) if (count > 0) histogram.set(bucket, count)
  return histogram
}

/** Adds up usage. */
export function sumOf(all: readonly UsageSums[]): UsageSums {
  const sum = {
    calls: 0n,
    prompt: 0n,
    completion: 0n,
    charged: 0n,
    errors: 0n,
    durations: new Map<number, number>(),
    firstTokens: new Map<number, number>(),
  }
  for (const { durations, firstTokens, ...each } of all) {
    for (const field of counts) sum[field] += each[field]
    addTo(sum.durations, durations)
    addTo(sum.firstTokens, firstTokens)
  }
  return sum
}

const counts = ['calls', 'prompt', 'completion', 'charged', 'errors'] as const

function addTo(sum: Histogram, more: Histogram): void {
  for (const [bucket, calls] of more) sum.set(bucket, (sum.get(bucket) ?? 0) + calls)
}

/** Figures of a report. */
export function usageFigures(sums: UsageSums, { withLatency }: { withLatency: boolean }): UsageFigures {
  const { durations, firstTokens } = sums
  return {
    calls: Number(sums.calls),
    promptTokens: Number(sums.prompt),
    completionTokens: Number(sums.completion),
    chargedMicro: Number(sums.charged),
    errors: Number(sums.errors),
    ...(withLatency && {
      latencyP50Ms: percentile(durations, 0.5),
      latencyP95Ms: percentile(durations, 0.95),
      firstTokenP50Ms: percentile(firstTokens, 0.5),
      firstTokenP95Ms: percentile(firstTokens, 0.95),
    }),
  }
}

/**
 * The duration in whole milliseconds that this share of the calls did not exceed, by nearest rank; null without calls.
 */
export function percentile(histogram: Histogram, share: number): number | null {
  const total = [...histogram.values()].reduce((sum, calls) => sum + calls, 0)
  if (total === 0) return null
  const rank = Math.ceil(share * total)
  let seen = 0
  for (const [bucket, calls] of [...histogram].toSorted(([a], [b]) => a - b)) {
    seen += calls
    if (seen >= rank) return middleOf(bucket)
  }
  throw new Error('unreachable: the last bucket completes the total')
}

/** Bucket 0 holds what took no more than a millisecond. */
function middleOf(bucket: number): number {
  return Math.max(1, Math.round((2 * GROWTH ** bucket) / (GROWTH + 1)))
}

/** Period divided into the hours or days of a time zone. */
export interface UsageSteps {
  zone: TimeZone
  from: Date
  to: Date
  /** Start of each step. */
  starts: Date[]
  /** UTC hours within which a step starts or ends; their calls are read individually. */
  divided: Date[]
  /** Each step is a UTC day. */
  areDays: boolean
}

const MAX_HOURS = 62 * 24

/**
 * Returns the whole steps that overlap a period.
 * @throws Refusal `invalid_request` for an unknown zone, for hourly steps in a zone not aligned to UTC hours, and for
 * too many hours
 */
export function usageSteps(asked: { from: Date; to: Date }, step: 'hour' | 'day', name: string): UsageSteps {
  const zone = timeZone(name)
  if (!zone)
    throw invalidField(
      'zone',
      'is not a known time zone.',
      'Use a name of the IANA time zone database, such as Europe/Berlin, or leave it out for UTC.',
    )
  const [from, to] = [asked.from.getTime(), asked.to.getTime()]
  const bounds = step === 'day' ? daysOf(zone, from, to) : hoursOf(zone, from, to)
  const starts = bounds.slice(0, -1)
  const divided = new Set(bounds.filter((at) => at % HOUR_MS !== 0).map(hourOf))
  return {
    zone,
    from: new Date(bounds[0]!),
    to: new Date(bounds.at(-1)!),
    starts: starts.map((at) => new Date(at)),
    divided: [...divided].map((at) => new Date(at)),
    areDays: bounds.every((at) => at % DAY_MS === 0),
  }
}

/** The same period as one step. */
export function asOneStep({ zone, from, to, divided }: UsageSteps): UsageSteps {
  const ends = [from, to].map((at) => hourOf(at.getTime()))
  return {
    zone,
    from,
    to,
    starts: [from],
    divided: divided.filter((at) => ends.includes(at.getTime())),
    areDays: false,
  }
}

function hoursOf(zone: TimeZone, from: number, to: number): number[] {
  const first = hourOf(from)
  const count = Math.ceil((to - first) / HOUR_MS)
  if (count > MAX_HOURS)
    throw invalidField(
      'step',
      `divides this period into ${count} hours, and at most ${MAX_HOURS} are possible.`,
      'Request at most 62 days per hour, or use days.',
    )
  const bounds = Array.from({ length: count + 1 }, (_, n) => first + n * HOUR_MS)
  if (bounds.some((at) => zone.offsetAt(at) % HOUR_MS !== 0))
    throw invalidField(
      'zone',
      'is not aligned to full UTC hours, and usage is stored per UTC hour.',
      'Request days in this zone (step=day), or hours in another zone, such as UTC.',
    )
  return bounds
}

function hourOf(ms: number): number {
  return Math.floor(ms / HOUR_MS) * HOUR_MS
}
