import { expect, test } from 'vitest'
import { routeCost } from './run-batch.ts'

test('gives the route what its provider charges, in pico-USD', () => {
  expect(routeCost({ unit: 'request', request: '0.0013' })).toEqual({
    cost: ['0', '0', '1300000000', null, null, null],
  })
  const tokens = { unit: 'tokens', prompt: '0.000001', completion: '0.000000000002' } as const
  expect(routeCost(tokens)).toEqual({ cost: ['1000000', '2', '0', null, null, null] })
  expect(routeCost({ ...tokens, cachedPrompt: '0', reasoning: '0.000000000001', cacheWrite: '0.000002' })).toEqual({
    cost: ['1000000', '2', '0', '0', '1', '2000000'],
  })
})

test('leaves a cost unknown if none is stored, or one that is not a price', () => {
  expect(routeCost(undefined)).toEqual({})
  expect(routeCost({ unit: 'tokens', prompt: '1e-6', completion: '0' })).toEqual({})
})
