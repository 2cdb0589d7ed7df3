import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { costMicro } from './price.ts'
import {
  MAX_FACTOR,
  NO_FACTOR,
  outputCap,
  promptTokensBound,
  raisedFactor,
  reservedPromptTokens,
  upperBoundMicro,
} from './upper-bound.ts'

const big = (max: number) => fc.bigInt({ min: 0n, max: BigInt(max) })
const overheads = fc.record({
  tokensPerByteMillionths: fc.bigInt({ min: 1n, max: 1_000_000n }),
  perMessage: big(10_000),
  perTool: big(10_000),
  fixedWithTools: big(100_000),
  maxTokensPerImage: fc.option(fc.bigInt({ min: 1n, max: 100_000n })),
})
const measured = fc.record({
  bytes: big(4_000_000),
  messages: big(100),
  tools: big(64),
  images: big(100),
  counted: fc.option(big(1_000_000)),
})
const plain = {
  tokensPerByteMillionths: 1_000_000n,
  perMessage: 8n,
  perTool: 16n,
  fixedWithTools: 64n,
  maxTokensPerImage: null,
}
const one = { bytes: 100n, messages: 1n, tools: 0n, images: 0n, counted: null }

describe('the token bound of a prompt', () => {
  test('is its bytes plus the product’s overhead per message', () => {
    expect(promptTokensBound(plain, one)).toBe(108n)
    expect(promptTokensBound({ ...plain, tokensPerByteMillionths: 250_000n }, one)).toBe(33n)
    expect(promptTokensBound({ ...plain, tokensPerByteMillionths: 333_333n, perMessage: 0n }, one)).toBe(34n) // up
  })

  test('includes the overhead per tool, and a fixed one if there are tools', () => {
    expect(promptTokensBound(plain, { ...one, tools: 3n })).toBe(108n + 3n * 16n + 64n)
  })

  test('includes the maximum tokens of each image', () => {
    expect(promptTokensBound({ ...plain, maxTokensPerImage: 1_500n }, { ...one, images: 2n })).toBe(108n + 3_000n)
  })

  test('uses an exact count in place of the bytes, and of nothing else', () => {
    expect(promptTokensBound(plain, { ...one, tools: 1n, counted: 20n })).toBe(20n + 8n + 16n + 64n)
    expect(promptTokensBound(plain, { ...one, counted: 0n })).toBe(8n)
  })

  test('is never below the exact count, or the bytes at the declared rate', () => {
    fc.assert(
      fc.property(overheads, measured, (overheads, measured) => {
        const bound = promptTokensBound(overheads, measured)
        if (measured.counted === null)
          expect(bound * 1_000_000n >= measured.bytes * overheads.tokensPerByteMillionths).toBe(true)
        else expect(bound >= measured.counted).toBe(true)
      }),
    )
  })

  test('never decreases when anything is added', () => {
    const fields = ['bytes', 'messages', 'tools', 'images'] as const
    fc.assert(
      fc.property(overheads, measured, fc.constantFrom(...fields), big(100), (overheads, measured, field, more) => {
        const grown = { ...measured, [field]: measured[field] + more }
        expect(promptTokensBound(overheads, grown) >= promptTokensBound(overheads, measured)).toBe(true)
      }),
    )
  })
})

describe('the factor of a product', () => {
  test.each([
    [1_000_000n, 142n, 100n, 1_450_000n], // rounded up to the next twentieth
    [1_000_000n, 150n, 100n, 1_500_000n],
    [2_000_000n, 150n, 100n, 2_000_000n], // never lowered
    [1_000_000n, 10_000n, 100n, MAX_FACTOR],
    [1_000_000n, 5n, 0n, MAX_FACTOR],
  ])('%s becomes, after %s tokens used of a bound of %s, %s', (before, used, bound, after) =>
    expect(raisedFactor(before, used, bound)).toBe(after),
  )

  test('is raised so that the reservation would have been enough, unless it is at its maximum', () => {
    // A prompt has text, so its bound is never 0, which no factor could raise.
    const bounds = fc.bigInt({ min: 1n, max: 4_000_000n })
    fc.assert(
      fc.property(big(4_000_000), bounds, (used, bound) => {
        const factor = raisedFactor(NO_FACTOR, used, bound)
        expect(factor === MAX_FACTOR || reservedPromptTokens(bound, factor) >= used).toBe(true)
        expect(reservedPromptTokens(bound, factor) >= bound).toBe(true)
      }),
      { examples: [[3n, 1n]] },
    )
  })
})

describe('the cap on output', () => {
  test.each([
    [null, 4_096n, 4_096n],
    [0n, 4_096n, 4_096n],
    [null, 100_000n, 8_192n],
    [0n, 8_192n, 8_192n],
    [0n, 8_193n, 8_192n],
    [1n, 4_096n, 1n],
    [9_000n, 4_096n, 9_000n], // admission refuses more than the model's maximum
  ])('for max_tokens %s and a model maximum of %s is %s', (asked, most, cap) =>
    expect(outputCap(asked, most)).toBe(cap),
  )
})

test('usage within the bounds never costs more than the reservation, cached, written or reasoning tokens included', () => {
  const price = fc
    .record({ promptPico: big(10 ** 11), completionPico: big(10 ** 11), requestPico: big(10 ** 15) })
    .chain((whole) =>
      fc.record({
        promptPico: fc.constant(whole.promptPico),
        completionPico: fc.constant(whole.completionPico),
        requestPico: fc.constant(whole.requestPico),
        cachedPico: fc.option(fc.bigInt({ min: 0n, max: whole.promptPico })),
        cacheWritePico: fc.option(fc.bigInt({ min: whole.promptPico, max: 10n ** 11n })),
        reasoningPico: fc.option(fc.bigInt({ min: 0n, max: whole.completionPico })),
      }),
    )
  const parts = fc.record({
    cachedTokens: big(4_000_000),
    cacheWriteTokens: big(4_000_000),
    reasoningTokens: big(10_000),
  })
  const factors = fc.bigInt({ min: NO_FACTOR, max: MAX_FACTOR })
  fc.assert(
    fc.property(
      price,
      overheads,
      measured,
      big(8_192),
      fc.nat({ max: 100 }),
      fc.nat({ max: 100 }),
      factors,
      parts,
      (price, overheads, measured, cap, p, c, factor, parts) => {
        const most = reservedPromptTokens(promptTokensBound(overheads, measured), factor)
        const used = [(most * BigInt(p)) / 100n, (cap * BigInt(c)) / 100n] as const
        expect(costMicro(price, ...used, parts) <= upperBoundMicro(price, most, cap)).toBe(true)
      },
    ),
  )
})
