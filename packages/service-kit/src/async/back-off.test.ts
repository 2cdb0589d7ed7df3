import { expect, test } from 'vitest'
import { backOffMs } from './waiting.ts'

const limits = { firstMs: 25, maxMs: 1_000 }

test('backOffMs doubles after each failure, up to the longest wait', () => {
  expect([1, 2, 3, 4, 5, 6, 7, 8].map((failures) => backOffMs(failures, limits))).toEqual([
    25, 50, 100, 200, 400, 800, 1_000, 1_000,
  ])
})

test('backOffMs returns 0 before the first failure', () => {
  expect([-1, 0].map((failures) => backOffMs(failures, limits))).toEqual([0, 0])
})

test('backOffMs stays at the longest wait after any number of failures', () => {
  expect(backOffMs(100_000, limits)).toBe(1_000)
})

test('backOffMs keeps doubling without a longest wait', () => {
  expect(backOffMs(11, { firstMs: 250, maxMs: Infinity })).toBe(256_000)
})
