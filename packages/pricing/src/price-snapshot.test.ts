import fc from 'fast-check'
import { expect, inject, test } from 'vitest'
import { chargeOfUsage, costOfUsage, picoDigits, type PriceSnapshot } from './usage.ts'

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

test('a cost is exact: its charge is the same amount, rounded up to whole micro-USD', () => {
  const pico = fc.bigInt({ min: 0n, max: 10n ** 11n }).map(String)
  const optional = fc.option(pico)
  const count = fc.integer({ min: 0, max: 10_000_000 })
  const price = fc.tuple(pico, pico, pico, optional, optional, optional)
  const used = fc.record({
    promptTokens: count,
    completionTokens: count,
    cachedTokens: count,
    cacheWriteTokens: count,
    reasoningTokens: count,
  })
  fc.assert(
    fc.property(price, used, (rates, usage) => {
      const cost = costOfUsage(rates, usage)
      expect(chargeOfUsage(rates, usage, Number.MAX_SAFE_INTEGER)).toBe(Number((cost + 999_999n) / 1_000_000n))
      expect(picoDigits.safeParse(`${cost}`).success).toBe(true)
      const cached = BigInt(Math.min(usage.cachedTokens, usage.promptTokens))
      const written = min(BigInt(usage.cacheWriteTokens), BigInt(usage.promptTokens) - cached)
      const reasoned = BigInt(Math.min(usage.reasoningTokens, usage.completionTokens))
      const [prompt, completion, request, cachedPico, reasoningPico, cacheWritePico] = rates
      expect(cost).toBe(
        cached * BigInt(cachedPico ?? prompt) +
          written * BigInt(cacheWritePico ?? prompt) +
          (BigInt(usage.promptTokens) - cached - written) * BigInt(prompt) +
          reasoned * BigInt(reasoningPico ?? completion) +
          (BigInt(usage.completionTokens) - reasoned) * BigInt(completion) +
          BigInt(request),
      )
    }),
    { numRuns: 1_000 * inject('propertyShare') },
  )
})

function min(one: bigint, other: bigint): bigint {
  return one < other ? one : other
}

test('an exact amount in messages is a whole number within a bigint of Postgres', () => {
  for (const digits of ['0', '9223372036854775807']) expect(picoDigits.safeParse(digits).success).toBe(true)
  for (const digits of ['', '-1', '1.5', '9223372036854775808', '1e3'])
    expect(picoDigits.safeParse(digits).success).toBe(false)
})
