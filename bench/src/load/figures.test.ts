import { describe, expect, test } from 'vitest'
import { figuresOf, median, medianFigures, percentile, ratio } from './figures.ts'

describe('figures', () => {
  test('percentile returns the nearest rank', () => {
    const ascending = Float64Array.from({ length: 200 }, (_, n) => n + 1)
    expect(percentile(ascending, 50)).toBe(100)
    expect(percentile(ascending, 99)).toBe(198)
    expect(percentile(Float64Array.of(7), 99)).toBe(7)
    expect(percentile(new Float64Array(), 50)).toBeNaN()
  })

  test('median averages the two middle values of an even number', () => {
    expect(median([9, 1, 5])).toBe(5)
    expect(median([1, 9, 5, 7])).toBe(6)
  })

  test('calls per second are based on the whole duration', () => {
    const sample = { calls: 4, tookMs: 2_000, latenciesMs: Float64Array.of(1, 2, 3, 4) }
    expect(figuresOf(sample)).toEqual({ perSecond: 2, p50Ms: 2, p99Ms: 4 })
  })

  test('medians are taken per figure, and ratios per round', () => {
    const fast = [
      { perSecond: 100, p50Ms: 3, p99Ms: 9 },
      { perSecond: 300, p50Ms: 1, p99Ms: 7 },
      { perSecond: 200, p50Ms: 2, p99Ms: 8 },
    ]
    expect(medianFigures(fast)).toEqual({ perSecond: 200, p50Ms: 2, p99Ms: 8 })
    const slow = fast.map(({ perSecond, ...rest }, n) => ({ ...rest, perSecond: perSecond / (n + 1) }))
    expect(ratio(fast, slow)).toBe(2)
  })
})
