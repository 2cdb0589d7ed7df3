import { expect, test } from 'vitest'
import { marginsOf, marginText } from './margin.ts'

const price = { unit: 'tokens', prompt: '0.000001', completion: '0.000002' } as const
const texts = (...of: Parameters<typeof marginsOf>) => marginsOf(...of).map(marginText)

test('marginsOf compares the price and the cost of each part', () => {
  const cost = { unit: 'tokens', prompt: '0.0000008', completion: '0.0000025', cachedPrompt: '0.0000001' } as const
  expect(texts(price, cost)).toEqual(['Input margin 20%', 'Cached input margin 90%', 'Output margin -25%'])
  expect(texts({ unit: 'request', request: '0.04' }, { unit: 'request', request: '0.03' })).toEqual(['Margin 25%'])
})

test('marginsOf compares nothing across units, and shows a price of nothing as free', () => {
  expect(marginsOf(price, { unit: 'request', request: '1' })).toEqual([])
  expect(marginsOf({ unit: 'request', request: '1' }, price)).toEqual([])
  expect(texts({ ...price, prompt: '0' }, price)).toEqual(['Input margin: free for callers', 'Output margin 0%'])
})
