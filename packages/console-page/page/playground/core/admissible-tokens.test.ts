import { expect, test } from 'vitest'
import { admissibleTokens } from './admissible-tokens.ts'

const asked = { tokens: 1000, completionPico: 2_000_000n }

test('what the wallet affords is what could be asked for [insufficient_budget]', () => {
  const refusal = { code: 'insufficient_budget', details: { affordableMaxTokens: 40 } }
  expect(admissibleTokens(refusal, asked)).toBe(40)
  expect(admissibleTokens({ ...refusal, details: { affordableMaxTokens: 0 } }, asked)).toBeNull()
})

test('what is left of a key is reckoned into tokens of the answer [key_limit]', () => {
  // 2,010 micro-USD are needed: 2,000 for the answer, 10 for what is sent.
  const details = { limitMicro: 1000, spentMicro: 100, reservedMicro: 89, neededMicro: 2010 }
  // 811 are left, 801 of them for the answer.
  expect(admissibleTokens({ code: 'key_limit', details }, asked)).toBe(400)
  expect(admissibleTokens({ code: 'key_limit', details: { ...details, spentMicro: 1000 } }, asked)).toBeNull()
  expect(admissibleTokens({ code: 'key_limit', details }, { ...asked, completionPico: 0n })).toBeNull()
})

test('what the model can answer is what could be asked for [context_limit]', () => {
  const details = { contextLength: 500, maxOutputTokens: 400, promptTokens: 150, outputCap: 1000 }
  expect(admissibleTokens({ code: 'context_limit', details }, asked)).toBe(350)
  expect(admissibleTokens({ code: 'context_limit', details: { ...details, promptTokens: 500 } }, asked)).toBeNull()
})

test('other refusals are not cleared by fewer tokens', () => {
  expect(admissibleTokens({ code: 'rate_limited', details: {} }, asked)).toBeNull()
})
