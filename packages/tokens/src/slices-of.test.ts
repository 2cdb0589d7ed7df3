import fc from 'fast-check'
import { describe, expect, inject, test } from 'vitest'
import { slicesOf } from './token-counter.ts'
import { anyText, tokenizers } from './texts.fixture.ts'

const prose = 'It was the best of times, it was the worst of times; we had everything before us. '.repeat(200)
const code = 'if (a[i] !== b[j]) { total += price * count; }\n  return total\n'.repeat(200)
const table = '| left | 1,234.50 | 漢字，かな | ------- |\n'.repeat(200)

describe.each(Object.entries(tokenizers))('slices of a text for %s', (_family, count) => {
  test('add up to the count of the whole text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const slices = slicesOf(text)
        expect(slices.join('')).toBe(text)
        expect(slices.reduce((sum, slice) => sum + count(slice), 0)).toBe(count(text))
      }),
      { numRuns: 300 * inject('propertyShare') },
    )
  })
})

test.each([prose, code, table])('slices of %.20s are short', (text) => {
  const slices = slicesOf(text)
  expect(slices.length).toBeGreaterThan(3)
  for (const slice of slices) expect(slice.length).toBeLessThan(2_200)
})

test('appending to a text keeps its earlier slices', () => {
  const before = slicesOf(prose)
  const after = slicesOf(`${prose}And then it continued. `)
  expect(after.slice(0, before.length - 1)).toEqual(before.slice(0, -1))
})

test('a text without a word boundary is one slice', () => {
  expect(slicesOf('a'.repeat(20_000))).toHaveLength(1)
  expect(slicesOf('😀'.repeat(20_000))).toHaveLength(1)
  expect(slicesOf('')).toEqual([])
})
