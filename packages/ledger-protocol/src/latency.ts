// Latencies are counted in buckets, so that those of many processes and hours add up. The bounds grow by 40 % from 10 ms
// to more than the longest call; a quantile is therefore off by at most 20 %.

const FIRST_BOUND_MS = 10
const GROWTH = 1.4

/** Number of buckets. */
export const LATENCY_BUCKETS = 32

/** Index of the bucket of a latency. */
export function latencyBucket(ms: number): number {
  if (ms <= FIRST_BOUND_MS) return 0
  return Math.min(Math.ceil(Math.log(ms / FIRST_BOUND_MS) / Math.log(GROWTH) - 1e-9), LATENCY_BUCKETS - 1)
}

/**
 * The latency that a share of the counted calls does not exceed, in whole milliseconds; null without calls.
 * @param counts calls of each bucket
 * @param share from 0 to 1
 */
export function latencyQuantile(counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  let left = share * total
  for (const [bucket, count] of counts.entries()) {
    if (count > 0 && left <= count) return within(bucket, left / count)
    left -= count
  }
  return within(LATENCY_BUCKETS - 1, 1)
}

/** Between the bounds of a bucket, whose latencies are assumed to be spread evenly on a logarithmic scale. */
function within(bucket: number, part: number): number {
  if (bucket === 0) return Math.round(FIRST_BOUND_MS * part)
  return Math.round(FIRST_BOUND_MS * GROWTH ** (bucket - 1 + part))
}
