import fc from 'fast-check'
import { expect, inject, test } from 'vitest'
import { minTokensOf } from './token-counter.ts'
import { anyText, tokenizers } from './texts.fixture.ts'

test.each(Object.entries(tokenizers))('minTokensOf never exceeds the count of %s', (_family, count) => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(minTokensOf([text])).toBeLessThanOrEqual(count(text))
    }),
    { numRuns: 300 * inject('propertyShare') },
  )
})

test('minTokensOf counts a token per word, and one per three digits', () => {
  expect(minTokensOf(['one two three', ' four-five six'])).toBe(6)
  expect(minTokensOf(['1234567'])).toBe(3)
  expect(minTokensOf(["don't", ''])).toBe(1)
  expect(minTokensOf(['漢字'])).toBe(0)
})
