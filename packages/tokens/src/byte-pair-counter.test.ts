import fc from 'fast-check'
import { describe, expect, inject, test } from 'vitest'
import { openBytePairCounter } from './byte-pair-counter.ts'
import { anyText, tokenizers } from './texts.fixture.ts'
import { loadVocabulary, type TokenizerFamily } from './tokenizer-families.ts'

describe.each(Object.entries(tokenizers))('%s', (family, wanted) => {
  const open = async () => openBytePairCounter(await loadVocabulary(family as TokenizerFamily))

  test('counts any text as the tokenizer does', async () => {
    const count = await open()
    fc.assert(
      fc.property(anyText, (text) => {
        expect(count(text)).toBe(wanted(text))
      }),
      { numRuns: 300 * inject('propertyShare') },
    )
  })

  test('counts an extremely long word exactly', async () => {
    const count = await open()
    for (const word of [
      'a'.repeat(3_000),
      'abcdefghijklmnopqrstuvwxyz'.repeat(80),
      'Ж'.repeat(2_000),
      '字'.repeat(900),
    ])
      expect(count(word)).toBe(wanted(word))
    expect(count('a'.repeat(128_000))).toBeGreaterThan(10_000)
    expect(count('')).toBe(0)
  })
})

test('rejects an unknown tokenizer', async () => {
  await expect(loadVocabulary('no_such_base' as never)).rejects.toThrow('no_such_base')
})
