import { productRecord, type ProductRecord } from '@gateway/api/console/products'
import { chargeOfUsage } from '@gateway/pricing/usage'
import { picoFromUsd } from '@gateway/pricing/price'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { catalogueRows } from './catalogue-rows.ts'
import { catalogueView } from './catalogue-view.ts'
import { priceLines } from './product-labels.tsx'
import { firstUse, estimateCost } from './estimate-dialog.tsx'

const [example] = productRecord.meta()!.examples as [ProductRecord]
const priced = (id: string, prompt: string, more: object = {}): ProductRecord => ({
  ...example,
  id,
  name: id,
  pricing: { unit: 'tokens', prompt, completion: '0' },
  ...more,
})

test('catalogueView keeps the valid search, filter, sort and comparison of a URL and drops the rest', () => {
  const view = { q: 'swift', kind: 'chat', use: 'askable', sort: 'priciest', compare: ['a', 'b'], estimate: 'a' }
  expect(catalogueView(view)).toEqual(view)
  expect(catalogueView({ q: '', kind: 'video', use: 1, sort: 'best', compare: 'a', estimate: 2 })).toEqual({})
  expect(catalogueView({ compare: ['a', 'b', 'c', 'd', 'e'] })).toEqual({ compare: ['a', 'b', 'c', 'd'] })
})

test('catalogueRows finds published products by words and sorts them by exact price', () => {
  const products = [
    priced('acme/b', '0.000000000003'),
    priced('acme/a', '0.000000000002', { contextLength: 1 }),
    priced('acme/c', '0.1', { state: 'suspended' }),
    priced('acme/image', '0', { kind: 'image', pricing: { unit: 'request', request: '0.000001' } }),
  ]
  const ids = (view: object) => catalogueRows(products, new Set(['acme/a']), view).map(({ product }) => product.id)
  expect(ids({})).toEqual(['acme/a', 'acme/b', 'acme/image'])
  expect(ids({ sort: 'priciest' })).toEqual(['acme/image', 'acme/b', 'acme/a'])
  expect(ids({ sort: 'cheapest' })).toEqual(['acme/a', 'acme/b', 'acme/image'])
  expect(ids({ sort: 'context', kind: 'chat' })).toEqual(['acme/b', 'acme/a'])
  expect(ids({ use: 'callable' })).toEqual(['acme/a'])
  expect(ids({ q: 'ACME im' })).toEqual(['acme/image'])
})

test('priceLines lists exact prices, per million tokens or per image', () => {
  const pricing = { unit: 'tokens', prompt: '0.00000015', completion: '0.000000000001', cachedPrompt: '0' } as const
  expect(priceLines('chat', { ...pricing, cacheWrite: '0.0000003' })).toEqual([
    { what: 'per 1M input tokens', usd: '$0.15' },
    { what: 'per 1M cached input tokens', usd: '$0' },
    { what: 'per 1M cache write tokens', usd: '$0.30' },
    { what: 'per 1M output tokens', usd: '$0.000001' },
  ])
  expect(priceLines('image', { unit: 'request', request: '0.0400' })).toEqual([{ what: 'per image', usd: '$0.04' }])
})

test('estimateCost equals the ledger charge at any price and counts a month as 30 days', () => {
  const price = fc.bigInt(0n, 10_000_000n)
  const tokens = fc.integer({ min: 0, max: 100_000 })
  fc.assert(
    fc.property(price, price, tokens, tokens, tokens, tokens, (promptPico, completionPico, ...counts) => {
      const [prompt, completion, cached, written] = counts
      const usd = (pico: bigint) => `0.${String(pico).padStart(12, '0')}`
      const pricing = { unit: 'tokens', prompt: usd(promptPico), completion: usd(completionPico) } as const
      const halved = { ...pricing, cachedPrompt: usd(promptPico / 2n), cacheWrite: usd(promptPico * 2n) }
      const typed = { prompt: `${prompt}`, completion: `${completion}`, cached: `${cached}`, written: `${written}` }
      const use = { ...firstUse, ...typed, calls: '7' }
      const snapshot = [
        `${promptPico}`,
        `${completionPico}`,
        '0',
        `${promptPico / 2n}`,
        null,
        `${promptPico * 2n}`,
      ] as const
      const usage = {
        promptTokens: prompt,
        completionTokens: completion,
        cachedTokens: cached,
        cacheWriteTokens: written,
        reasoningTokens: 0,
      }
      const charged = BigInt(chargeOfUsage([...snapshot], usage, Number.MAX_SAFE_INTEGER))
      expect(picoFromUsd(halved.cachedPrompt)).toBe(promptPico / 2n)
      expect(estimateCost(halved, use)).toEqual({
        callMicro: charged,
        dayMicro: charged * 7n,
        monthMicro: charged * 210n,
      })
    }),
  )
  expect(estimateCost({ unit: 'request', request: '0.04' }, { ...firstUse, calls: '1000' })!.monthMicro).toBe(
    1_200_000_000n,
  )
  expect(estimateCost(example.pricing, { ...firstUse, prompt: '1.5' })).toBe(null)
})
