import { expect, test } from 'vitest'
import { LATENCY_BUCKETS, latencyBucket, latencyQuantile } from './provider-report.ts'

const counted = (latencies: number[]): number[] => {
  const counts = Array.from({ length: LATENCY_BUCKETS }, () => 0)
  for (const ms of latencies) counts[latencyBucket(ms)]!++
  return counts
}

test('the longest call has a bucket below the last one', () => {
  expect([0, 10, 10.1, 14, 14.1].map(latencyBucket)).toEqual([0, 0, 1, 1, 2])
  expect(latencyBucket(300_000)).toBe(LATENCY_BUCKETS - 1)
  expect(latencyBucket(1e9)).toBe(LATENCY_BUCKETS - 1)
})

test.for([0.5, 0.95])('the quantile %d is off by at most 20 %', (share) => {
  for (const scale of [20, 400, 9_000]) {
    const latencies = Array.from({ length: 1_000 }, (_, n) => scale * (1 + n / 500))
    const exact = latencies[share * 1_000 - 1]!
    expect(Math.abs(latencyQuantile(counted(latencies), share)! / exact - 1)).toBeLessThan(0.2)
  }
})

test('no calls have no quantile', () => {
  expect(latencyQuantile(counted([]), 0.5)).toBeNull()
})
