import { expect, test } from 'vitest'
import { composePricing } from '@gateway/ledger-protocol/compose-invocation'
import { columnsOfPricing } from './product-columns.ts'

const noParts = { cachedPico: null, cacheWritePico: null, reasoningPico: null }

test.for([
  [
    { unit: 'tokens', prompt: '0.00000015', completion: '0.0000006' },
    { unit: 'tokens', promptPico: 150_000n, completionPico: 600_000n, requestPico: 0n, ...noParts },
  ],
  [
    {
      unit: 'tokens',
      prompt: '0.000001',
      completion: '0.000005',
      cachedPrompt: '0.0000001',
      cacheWrite: '0.000002',
      reasoning: '0',
    },
    {
      unit: 'tokens',
      promptPico: 1_000_000n,
      completionPico: 5_000_000n,
      requestPico: 0n,
      cachedPico: 100_000n,
      cacheWritePico: 2_000_000n,
      reasoningPico: 0n,
    },
  ],
  [
    { unit: 'tokens', prompt: '0', completion: '0.1' },
    { unit: 'tokens', promptPico: 0n, completionPico: 100_000_000_000n, requestPico: 0n, ...noParts },
  ],
  [
    { unit: 'request', request: '0.000000000001' },
    { unit: 'request', promptPico: 0n, completionPico: 0n, requestPico: 1n, ...noParts },
  ],
  [
    { unit: 'request', request: '1000000' },
    { unit: 'request', promptPico: 0n, completionPico: 0n, requestPico: 1_000_000_000_000_000_000n, ...noParts },
  ],
] as const)('stores %j exactly and returns it unchanged', ([pricing, columns]) => {
  expect(columnsOfPricing(pricing)).toEqual(columns)
  expect(composePricing(columns)).toEqual(pricing)
})

test.for([
  { unit: 'tokens', prompt: '0.100000000001', completion: '0' },
  { unit: 'request', request: '1000000.000000000001' },
] as const)('rejects %j because it exceeds the maximum price of one call [invalid_request]', (pricing) => {
  expect(() => columnsOfPricing(pricing)).toThrow(/invalid_request/)
})

test.for([
  { unit: 'tokens', prompt: '0.1', completion: '0', cachedPrompt: '0.100000000001' },
  { unit: 'tokens', prompt: '0', completion: '0.1', reasoning: '0.100000000001' },
] as const)('rejects %j because a part costs more than the whole [invalid_request]', (pricing) => {
  expect(() => columnsOfPricing(pricing)).toThrow(/invalid_request/)
})

test.for([
  { unit: 'tokens', prompt: '0.1', completion: '0', cacheWrite: '0.099999999999' },
  { unit: 'tokens', prompt: '0', completion: '0', cacheWrite: '0.100000000001' },
] as const)('rejects %j because cache writes cost less than the prompt, or too much [invalid_request]', (pricing) => {
  expect(() => columnsOfPricing(pricing)).toThrow(/invalid_request/)
})
