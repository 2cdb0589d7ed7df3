import { expect, test } from 'vitest'
import { movedRoutes, placeAt } from './provider-order.ts'

const routes = ['a', 'b', 'c'].map((name, n) => ({ name, priority: n === 0 ? 0 : 5 }))

test('movedRoutes numbers the routes by their new order', () => {
  const named = (from: number, to: number) =>
    movedRoutes(routes, from, to).map(({ name, priority }) => `${name}${priority}`)
  expect(named(0, 2)).toEqual(['b1', 'c2', 'a3'])
  expect(named(2, 0)).toEqual(['c1', 'a2', 'b3'])
})

test('movedRoutes keeps shared priorities if the order stays', () => {
  expect(movedRoutes(routes, 1, 1)).toEqual(routes)
  expect(movedRoutes(routes, 1, 3)).toEqual(routes)
})

test('placeAt finds the place of a dragged row by the middles of the others', () => {
  const middles = [50, 150, 250]
  expect([20, 60, 160, 300].map((y) => placeAt(y, middles, 0))).toEqual([0, 0, 1, 2])
  expect([20, 60, 160, 300].map((y) => placeAt(y, middles, 2))).toEqual([0, 1, 2, 2])
})
