import { expect, test } from 'vitest'
import { readQuery } from './exported-metrics.ts'

test('a query is taken apart', () => {
  const expr = 'histogram_quantile(0.99, sum by (le) (rate(a_bucket{code=~"x|y",how!="z"}[$__rate_interval]))) > max(b)'
  expect(readQuery(expr)).toEqual({
    metrics: ['a_bucket', 'b'],
    labels: [
      { label: 'code', value: 'x' },
      { label: 'code', value: 'y' },
      { label: 'how', value: 'z' },
    ],
    valid: true,
  })
})

test('reports an expression that Prometheus could not parse', () => {
  expect(readQuery('sum(rate(a[5m])').valid).toBe(false)
})
