import fc from 'fast-check'
import { expect, test } from 'vitest'
import { chargeOfUsage, type PriceSnapshot } from './usage.ts'

const USAGE = { promptTokens: 30, completionTokens: 10 }

test('a charge is the cost of the usage, each part at its price, rounded up once', () => {
  expect(chargeOfUsage(['2000000', '8000000', '0', null, null, null], USAGE, 1_000)).toBe(140)
  const parts = { ...USAGE, cachedTokens: 20, cacheWriteTokens: 6, reasoningTokens: 4 }
  expect(chargeOfUsage(['2000000', '8000000', '0', '200000', '5000000', null], parts, 1_000)).toBe(92)
  expect(chargeOfUsage(['2000000', '8000000', '0', '200000', '5000000', '2500000'], parts, 1_000)).toBe(95)
  expect(chargeOfUsage(['0', '0', '2000000001', null, null, null], USAGE, 10_000)).toBe(2_001)
})

test('a charge never exceeds the reservation, however expensive the usage', () => {
  const pico = fc.bigInt({ min: 0n, max: 10n ** 11n }).map(String)
  const count = fc.integer({ min: 0, max: 10_000_000 })
  fc.assert(
    fc.property(pico, pico, count, count, fc.integer({ min: 0, max: 10 ** 12 }), (prompt, completion, a, b, cap) => {
      const price: PriceSnapshot = [prompt, completion, '0', null, null, `${BigInt(prompt) * 2n}`]
      const used = { promptTokens: a, completionTokens: b, cacheWriteTokens: b }
      expect(chargeOfUsage(price, used, cap)).toBeLessThanOrEqual(cap)
    }),
  )
})
