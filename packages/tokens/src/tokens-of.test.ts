import { countTokens as countCl100k } from 'gpt-tokenizer/encoding/cl100k_base'
import { countTokens as countO200k } from 'gpt-tokenizer/encoding/o200k_base'
import fc from 'fast-check'
import { describe, expect, test, inject } from 'vitest'
import { maxTokensOf, tokensOf } from './tokens-of.ts'

const AS_TEXT = { disallowedSpecial: new Set<string>() }
const tokenizers = {
  o200k_base: (text: string) => countO200k(text, AS_TEXT),
  cl100k_base: (text: string) => countCl100k(text, AS_TEXT),
}

// What texts are made of, and what divides words in different ways.
const piece = fc.constantFrom(
  'the ',
  'Hello',
  ' ',
  '  ',
  '\n',
  '\r\n',
  '\t',
  "'s",
  "'RE",
  '123',
  '45',
  'ä',
  'é',
  'e\u0301',
  '漢字',
  '，',
  '😀',
  '==',
  '->',
  '{"a":',
  '</div>',
  'اللغة',
  'ไทย',
  '\u00a0',
  '/',
  '//',
  'A',
  'aB',
  '<|endoftext|>',
  '"',
  '\ud800',
)
const text = fc.array(piece, { minLength: 0, maxLength: 400 }).map((pieces) => pieces.join(''))

describe.each(Object.entries(tokenizers))('%s', (_family, whole) => {
  test('a count in slices is never less than the count of the whole', () => {
    fc.assert(
      fc.property(text, (text) => {
        expect(maxTokensOf(text, whole)).toBeGreaterThanOrEqual(whole(text))
      }),
      { numRuns: 300 * inject('propertyShare') },
    )
  })

  test('prose, code and tables are counted exactly, however long', () => {
    const prose = 'It was the best of times, it was the worst of times; we had everything before us. '.repeat(200)
    const code = 'if (a[i] !== b[j]) { total += price * count; }\n  return total\n'.repeat(200)
    const table = '| left | 1,234.50 | 漢字，かな | ------- |\n'.repeat(200)
    for (const text of [prose, code, table]) {
      expect(maxTokensOf(text, whole)).toBe(whole(text))
      expect(tokensOf(text, whole)).toBe(whole(text))
    }
  })

  test('a word without end is bounded by its bytes, and counted about right', () => {
    const word = 'a'.repeat(20_000)
    expect(maxTokensOf(word, whole)).toBe(20_000)
    expect(tokensOf(word, whole)).toBeLessThan(5_000)
    expect(maxTokensOf('😀'.repeat(2_000), whole)).toBe(8_000)
  })

  test('what providers may take for a blank and we do not leaves room', () => {
    expect(maxTokensOf('one\ufefftwo', whole)).toBeGreaterThan(whole('one\ufefftwo'))
  })
})
