import { expect, test } from 'vitest'
import { outOf, rangeText } from './fields.tsx'

test.each([
  [{ least: 1, most: 4_096, isWhole: true }, '1 to 4,096'],
  [{ most: 10 }, 'Up to 10'],
  [{ least: 0 }, '0 or more'],
  [{ isWhole: true }, 'Whole number'],
  [{}, ''],
])('says the range %j as "%s"', (range, text) => {
  expect(rangeText(range)).toBe(text)
})

test('says why a number is outside of its range', () => {
  expect(outOf(3, { least: 0, most: 2 })).toBe('Enter a number from 0 to 2.')
  expect(outOf(1.5, { least: 0, most: 2, isWhole: true })).toBe('Enter a whole number.')
  expect(outOf(11, { most: 10 })).toBe('Enter up to 10.')
  expect(outOf(2, { least: 0, most: 2 })).toBe(null)
  expect(outOf(undefined, { least: 1 })).toBe(null)
})
