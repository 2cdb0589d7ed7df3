import type { LatencyFigures } from '@gateway/api/console/money'

// Percentiles of durations that are counted in buckets (money §9.6). Bucket b holds the durations above 1.1^(b-1) ms, up
// to 1.1^b ms, and a percentile is shown as the value whose distance to both ends is the same share of them. So it is
// within 1/21 of the exact one, below 5 %, and rounded to a millisecond.

/** Calls by bucket. */
export type Histogram = Map<number, number>

/** How long some calls took, and how many failed. */
export interface Latency {
  errors: number
  durations: Histogram
  firstTokens: Histogram
}

const GROWTH = 1.1

/** Above the bucket of an hour, the longest duration. */
const BUCKETS = 160
/** Bytes of a record of money.add_histograms. */
const RECORD = 6

/** Reads concatenated histograms of money.latency_hours, which add up. */
export function readHistogram(bytes: Uint8Array): Histogram {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const calls = new Float64Array(BUCKETS) // faster than a map for a million records
  for (let at = 0; at < bytes.byteLength; at += RECORD) calls[view.getInt16(at)]! += view.getInt32(at + 2)
  const histogram: Histogram = new Map()
  for (const [bucket, count] of calls.entries()) if (count > 0) histogram.set(bucket, count)
  return histogram
}

/** Adds up latencies. */
export function sumOfLatencies(all: readonly Latency[]): Latency {
  const sum: Latency = { errors: 0, durations: new Map(), firstTokens: new Map() }
  for (const { errors, durations, firstTokens } of all) {
    sum.errors += errors
    addTo(sum.durations, durations)
    addTo(sum.firstTokens, firstTokens)
  }
  return sum
}

function addTo(sum: Histogram, more: Histogram): void {
  for (const [bucket, calls] of more) sum.set(bucket, (sum.get(bucket) ?? 0) + calls)
}

/** Figures of a latency, as a report has them. */
export function latencyFigures({ errors, durations, firstTokens }: Latency): LatencyFigures {
  return {
    errors,
    latencyP50Ms: percentile(durations, 0.5),
    latencyP95Ms: percentile(durations, 0.95),
    firstTokenP50Ms: percentile(firstTokens, 0.5),
    firstTokenP95Ms: percentile(firstTokens, 0.95),
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
