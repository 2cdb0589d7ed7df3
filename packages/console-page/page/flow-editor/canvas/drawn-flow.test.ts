import { expect, test } from 'vitest'
import { openingView, READABLE_ZOOM } from './drawn-flow.ts'

const canvas = { width: 1_000, height: 600 }
const start = { x: 0, y: 100, width: 256, height: 120 }

test('a flow that fits opens in the middle, at most at its natural size', () => {
  expect(openingView(canvas, { x: 0, y: 0, width: 500, height: 300 }, start)).toEqual({ x: 250, y: 150, zoom: 1 })
  const { zoom } = openingView(canvas, { x: 0, y: 0, width: 1_000, height: 300 }, start)
  expect(zoom).toBeCloseTo(0.92)
})

test('a longer flow opens readable, with its start on the left', () => {
  const { x, y, zoom } = openingView(canvas, { x: 0, y: 0, width: 3_000, height: 300 }, start)
  expect(zoom).toBe(READABLE_ZOOM)
  expect(x).toBe(40)
  expect(y + 150 * zoom).toBe(300) // all of its height in the middle
})

test('a higher flow opens with its start in the middle of the height', () => {
  const { x, y, zoom } = openingView(canvas, { x: 0, y: -900, width: 600, height: 2_000 }, start)
  expect(zoom).toBe(READABLE_ZOOM)
  expect(y + (start.y + start.height / 2) * zoom).toBe(300)
  expect(x + 300 * zoom).toBe(500)
})
