import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Histogram, percentile, readHistogram, sumOf, usageFigures } from './usage-figures.ts'

/** As money.latency_bucket. */
function histogramOf(durationsMs: readonly number[]): Histogram {
  const histogram: Histogram = new Map()
  for (const ms of durationsMs) {
    const bucket = ms <= 1 ? 0 : Math.ceil(Math.log(ms) / Math.log(1.1))
    histogram.set(bucket, (histogram.get(bucket) ?? 0) + 1)
  }
  return histogram
}

function exact(durationsMs: readonly number[], share: number): number {
  return durationsMs.toSorted((a, b) => a - b)[Math.ceil(share * durationsMs.length) - 1]!
}

describe('percentile', () => {
  test('is within 1/21 of the exact percentile, and then rounded to a millisecond, for any durations', () => {
    const durations = fc.array(fc.oneof(fc.integer({ min: 0, max: 3_600_000 }), fc.integer({ min: 0, max: 400 })), {
      minLength: 1,
      maxLength: 300,
    })
    fc.assert(
      fc.property(durations, fc.constantFrom(0.5, 0.95, 0.99, 1), (ms, share) => {
        const [found, wanted] = [percentile(histogramOf(ms), share)!, exact(ms, share)]
        expect(Math.abs(found - wanted)).toBeLessThanOrEqual(Math.max(1, wanted / 21 + 0.5))
      }),
    )
  })

  test('is null without calls', () => {
    expect(percentile(new Map(), 0.5)).toBeNull()
  })
})

test('sumOf has the counts and the percentiles of all calls together', () => {
  const [fast, slow] = [
    [10, 11, 12],
    [4_000, 4_100, 4_200, 4_300],
  ]
  const sumsOf = (ms: readonly number[], errors: bigint) => ({
    calls: BigInt(ms.length),
    prompt: 20n,
    completion: 10n,
    charged: 5n,
    errors,
    durations: histogramOf(ms),
    firstTokens: new Map(),
  })
  const sum = sumOf([sumsOf(fast, 1n), sumsOf(slow, 2n)])
  const counts = { calls: 7, promptTokens: 40, completionTokens: 20, chargedMicro: 10, errors: 3 }
  expect(usageFigures(sum, { withLatency: false })).toEqual(counts)
  expect(usageFigures(sum, { withLatency: true })).toEqual({
    ...counts,
    latencyP50Ms: percentile(histogramOf([...fast, ...slow]), 0.5),
    latencyP95Ms: percentile(histogramOf(slow), 0.95),
    firstTokenP50Ms: null,
    firstTokenP95Ms: null,
  })
})

test('readHistogram adds up concatenated histograms', () => {
  const bytes = Uint8Array.of(0, 5, 0, 0, 1, 0, 0, 9, 0, 0, 0, 2, 0, 5, 0, 0, 0, 1)
  expect(readHistogram(bytes)).toEqual(
    new Map([
      [5, 257],
      [9, 2],
    ]),
  )
  expect(readHistogram(new Uint8Array())).toEqual(new Map())
})
