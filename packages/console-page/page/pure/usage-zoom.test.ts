import { expect, test } from 'vitest'
import { usageQueryOf, usageView } from '../usage/usage-view.ts'
import { stepAt, zoomOf } from './usage-zoom.ts'

const steps = ['2026-11-20T00:00:00+01:00', '2026-11-21T00:00:00+01:00', '2026-11-22T00:00:00+01:00'].map((at) => ({
  at,
  parts: [],
  totalMicro: 0,
}))
const end = '2026-11-22T23:00:00.000Z'

test('zoomOf spans from the earlier to the later step, in either order', () => {
  const zoom = { from: '2026-11-19T23:00:00.000Z', to: '2026-11-21T23:00:00.000Z' }
  expect([zoomOf(steps, end, 0, 1), zoomOf(steps, end, 1, 0)]).toEqual([zoom, zoom])
  expect(zoomOf(steps, end, 2, 2)).toEqual({ from: '2026-11-21T23:00:00.000Z', to: end })
})

test('stepAt clamps positions outside the chart to the first or last step', () => {
  expect([-0.1, 0, 0.5, 1, 1.4].map((share) => stepAt(share, 4))).toEqual([0, 0, 2, 3, 3])
})

test('a short zoom is queried by hour, and an invalid zoom is dropped from the URL', () => {
  const [from, to] = ['2026-11-19T23:00:00.000Z', '2026-11-21T23:00:00.000Z']
  const asked = (view: Record<string, unknown>) => usageQueryOf(usageView(view), new Date(end), 'UTC')
  expect(asked({ from, to })).toEqual({ by: 'model', step: 'hour', zone: 'UTC', from, to })
  expect(asked({ from: '2026-10-01T00:00:00.000Z', to }).step).toBe('day')
  expect([usageView({ from: to, to: from }), usageView({ from, to: 'soon' }), usageView({ from })]).toEqual([
    {},
    {},
    {},
  ])
})
