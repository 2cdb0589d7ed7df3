import { costMicro, picoFromUsd } from '@gateway/pricing/price'
import { expect, test } from 'vitest'
import { callSum, total } from './call-sum.ts'

const tokens = {
  promptTokens: 1_204,
  completionTokens: 310,
  cachedTokens: null,
  cacheWriteTokens: null,
  reasoningTokens: null,
}

test('callSum lists each kind of token with its exact price and amount', () => {
  const lines = callSum({ ...tokens, pricing: { unit: 'tokens', prompt: '0.0000004', completion: '0.0000016' } })
  expect(lines).toEqual([
    { what: 'prompt tokens', count: 1_204, each: '0.0000004', amount: '0.0004816' },
    { what: 'completion tokens', count: 310, each: '0.0000016', amount: '0.000496' },
  ])
  expect(total(lines)).toBe('0.0009776')
})

test('cached, written and reasoning tokens with a separate price are not counted twice, and the sum matches the charge', () => {
  const pricing = {
    unit: 'tokens',
    prompt: '0.000003',
    completion: '0.000015',
    cachedPrompt: '0.0000003',
    cacheWrite: '0.000006',
    reasoning: '0.00001',
  } as const
  const call = { ...tokens, cachedTokens: 1_000, cacheWriteTokens: 200, reasoningTokens: 5_000, pricing }
  const lines = callSum(call)
  expect(lines.map(({ count }) => count)).toEqual([4, 1_000, 200, 310])
  const price = {
    promptPico: picoFromUsd(pricing.prompt)!,
    completionPico: picoFromUsd(pricing.completion)!,
    requestPico: 0n,
    cachedPico: picoFromUsd(pricing.cachedPrompt),
    cacheWritePico: picoFromUsd(pricing.cacheWrite),
    reasoningPico: picoFromUsd(pricing.reasoning),
  }
  const parts = { cachedTokens: 1_000n, cacheWriteTokens: 200n, reasoningTokens: 5_000n }
  const charge = costMicro(price, 1_204n, 310n, parts)
  expect(BigInt(Math.ceil(Number(total(lines)) * 1e6))).toBe(charge)
})

test('a per-call price is the only line, and a call without usage has no lines', () => {
  expect(total(callSum({ ...tokens, pricing: { unit: 'request', request: '0.04' } }))).toBe('0.04')
  expect(callSum({ ...tokens, promptTokens: null, pricing: { unit: 'tokens', prompt: '1', completion: '1' } })).toEqual(
    [],
  )
})
