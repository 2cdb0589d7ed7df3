import fc from 'fast-check'
import { describe, expect, test, inject } from 'vitest'
import { costMicro, picoFromUsd, usdFromPico } from './price.ts'

const PICO_PER_USD = 10n ** 12n
const pico = fc.bigInt({ min: 0n, max: 10n ** 19n - 1n })

describe('decimal strings', () => {
  test('round-trip every price', () => {
    fc.assert(
      fc.property(pico, (value) => {
        expect(picoFromUsd(usdFromPico(value))).toBe(value)
      }),
    )
  })

  test('are written in their shortest form', () => {
    const digits = (min: number, max: number) =>
      fc.array(fc.integer({ min: 0, max: 9 }), { minLength: min, maxLength: max }).map((list) => list.join(''))
    fc.assert(
      fc.property(digits(1, 7), digits(0, 12), (whole, fraction) => {
        const written = usdFromPico(picoFromUsd(fraction === '' ? whole : `${whole}.${fraction}`)!)
        const shortest = `${BigInt(whole)}.${fraction}`.replace(/\.?0*$/, (end) =>
          end.startsWith('.') ? '' : end.replace(/0+$/, ''),
        )
        expect(written).toBe(fraction === '' ? `${BigInt(whole)}` : shortest)
      }),
    )
  })

  test.each([
    ['0', 0n],
    ['0.00000015', 150_000n],
    ['0.000000000001', 1n],
    ['1', PICO_PER_USD],
    ['9999999.999999999999', 9_999_999_999_999_999_999n],
    ['007.50', 7_500_000_000_000n],
  ])('%s USD is %d pico-USD', (usd, value) => expect(picoFromUsd(usd)).toBe(value))

  test.each([
    '',
    '.',
    '.5',
    '5.',
    '-1',
    '+1',
    '1e-7',
    '0.0000000000001',
    '12345678',
    '1,5',
    ' 1',
    '1\n',
    '0x1',
    'NaN',
    '１',
  ])('rejects %j as a price', (usd) => expect(picoFromUsd(usd)).toBe(null))

  test.each([
    [0n, '0'],
    [1n, '0.000000000001'],
    [150_000n, '0.00000015'],
    [PICO_PER_USD * 10n, '10'],
    [PICO_PER_USD + 500_000_000_000n, '1.5'],
  ])('writes %d pico-USD as %s', (value, usd) => expect(usdFromPico(value)).toBe(usd))
})

describe('the cost of a call', () => {
  const price = fc.record({
    promptPico: fc.bigInt({ min: 0n, max: 10n ** 11n }),
    completionPico: fc.bigInt({ min: 0n, max: 10n ** 11n }),
    requestPico: fc.bigInt({ min: 0n, max: 10n ** 18n }),
  })
  const tokens = fc.bigInt({ min: 0n, max: 10n ** 7n })

  // spec: 1/s12
  test('is the exact price, rounded up once to whole micro-USD', () => {
    fc.assert(
      fc.property(price, tokens, tokens, (price, prompt, completion) => {
        // The rational oracle: cost is the one integer with cost - 1 < exact <= cost, in units of a millionth
        // micro-USD.
        const exact = prompt * price.promptPico + completion * price.completionPico + price.requestPico
        const cost = costMicro(price, prompt, completion)
        expect(cost * 1_000_000n >= exact).toBe(true)
        expect((cost - 1n) * 1_000_000n < exact).toBe(true)
      }),
      { numRuns: 2_000 * inject('propertyShare') },
    )
  })

  test('rounds the sum and not its parts', () => {
    // 3 tokens at 0.4 micro-USD and 3 at 0.1 are 1.5: two rounded parts would be 2 + 1.
    const price = { promptPico: 400_000n, completionPico: 100_000n, requestPico: 0n }
    expect(costMicro(price, 3n, 3n)).toBe(2n)
    expect(costMicro(price, 2n, 2n)).toBe(1n) // an exact one stays one
    expect(costMicro(price, 0n, 1n)).toBe(1n)
    expect(costMicro(price, 0n, 0n)).toBe(0n)
  })

  test('never decreases when usage grows', () => {
    fc.assert(
      fc.property(price, tokens, tokens, tokens, tokens, (price, prompt, completion, more, still) => {
        expect(costMicro(price, prompt + more, completion + still) >= costMicro(price, prompt, completion)).toBe(true)
      }),
    )
  })

  test('never increases because cached or reasoning tokens have a separate price, however many are reported', () => {
    const share = fc.bigInt({ min: 0n, max: 100n })
    fc.assert(
      fc.property(price, tokens, tokens, tokens, tokens, share, share, (whole, prompt, completion, ...rest) => {
        const [cachedTokens, reasoningTokens, ofPrompt, ofCompletion] = rest
        const cachedPico = (whole.promptPico * ofPrompt) / 100n
        const reasoningPico = (whole.completionPico * ofCompletion) / 100n
        const cost = costMicro({ ...whole, cachedPico, reasoningPico }, prompt, completion, {
          cachedTokens,
          reasoningTokens,
        })
        expect(cost <= costMicro(whole, prompt, completion)).toBe(true)
        expect(
          cost >= costMicro({ ...whole, promptPico: cachedPico, completionPico: reasoningPico }, prompt, completion),
        ).toBe(true)
      }),
    )
  })

  test('is the exact sum over the tokens read, written and neither, rounded up once', () => {
    const dearer = fc.bigInt({ min: 0n, max: 10n ** 11n })
    fc.assert(
      fc.property(price, dearer, fc.array(tokens, { minLength: 4, maxLength: 4 }), (whole, more, counts) => {
        const [read = 0n, written = 0n, rest = 0n, completion = 0n] = counts
        const priced = { ...whole, cachedPico: whole.promptPico / 10n, cacheWritePico: whole.promptPico + more }
        const parts = { cachedTokens: read, cacheWriteTokens: written }
        const cost = costMicro(priced, read + written + rest, completion, parts)
        const exact =
          read * priced.cachedPico +
          written * priced.cacheWritePico +
          rest * whole.promptPico +
          completion * whole.completionPico +
          whole.requestPico
        expect(cost).toBe((exact + 999_999n) / 1_000_000n)
        // More tokens reported as written than are left are as many as are left.
        const all = { cachedTokens: read, cacheWriteTokens: written + rest }
        expect(costMicro(priced, read + written + rest, completion, { ...all, cacheWriteTokens: 10n ** 8n })).toBe(
          costMicro(priced, read + written + rest, completion, all),
        )
      }),
      { numRuns: 2_000 * inject('propertyShare') },
    )
  })

  test('counts cached tokens as part of the prompt, and reasoning tokens as part of the completion', () => {
    const whole = { promptPico: 2_000_000n, completionPico: 8_000_000n, requestPico: 0n }
    const parts = { cachedTokens: 20n, reasoningTokens: 4n }
    expect(costMicro({ ...whole, cachedPico: 200_000n, reasoningPico: 5_000_000n }, 30n, 10n, parts)).toBe(92n)
    expect(costMicro({ ...whole, cachedPico: 200_000n }, 30n, 10n, parts)).toBe(20n + 4n + 80n)
    expect(costMicro(whole, 30n, 10n, parts)).toBe(140n)
    const written = { ...parts, cacheWriteTokens: 6n }
    expect(costMicro({ ...whole, cacheWritePico: 4_000_000n }, 30n, 10n, written)).toBe(152n)
    expect(costMicro(whole, 30n, 10n, written)).toBe(140n)
  })

  // spec: 2.2/r16
  test('is the price per request, regardless of tokens, for a product priced by request', () => {
    const price = { promptPico: 0n, completionPico: 0n, requestPico: picoFromUsd('0.002')! }
    expect(costMicro(price, 123n, 456n)).toBe(2_000n)
  })

  test('fits into a Postgres bigint, even for the most expensive call', () => {
    const price = { promptPico: 10n ** 11n, completionPico: 10n ** 11n, requestPico: 0n }
    const pico = 10n ** 7n * price.promptPico + 10n ** 7n * price.completionPico + 999_999n
    expect(pico < 2n ** 63n).toBe(true)
    expect(10n ** 18n + 999_999n < 2n ** 63n).toBe(true)
  })
})
