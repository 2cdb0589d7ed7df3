import {
  newProductBody,
  productDefaults,
  productPatch,
  productRecord,
  type ProductRecord,
} from '@gateway/api/console/products'
import { expect, test } from 'vitest'
import { productsView } from './operator-views.ts'
import { defaults } from './product-defaults.ts'
import { bodyOf, draftOf, emptyDraft, patchOf } from './product-draft.ts'
import { usdOfCall, usdOfMillion } from './usd-per-million.ts'

const [example] = productRecord.meta()!.examples as [ProductRecord]
const providers = [{ provider: 'simulated', model: 'm-1', priority: 1 }]
const named = { id: 'acme/new', name: 'New', ownedBy: 'acme', providers }

test('what is typed for a new product is what the API takes, with the exact price of a token', () => {
  const draft = { ...emptyDraft('chat'), ...named, prompt: '0.15', completion: '$0.000001', cachedPrompt: '0' }
  expect(newProductBody.parse(bodyOf(draft))).toMatchObject({
    state: 'draft',
    pricing: { unit: 'tokens', prompt: '0.00000015', completion: '0.000000000001', cachedPrompt: '0' },
    overheads: { factor: 1, maxTokensPerImage: null },
  })
  const image = {
    ...emptyDraft('image'),
    ...named,
    request: '0.04',
    values: { ...emptyDraft('image').values, size: '1x1, 2x2' },
  }
  expect(newProductBody.parse(bodyOf(image))).toMatchObject({
    pricing: { unit: 'request', request: '0.04' },
    parameterValues: { size: ['1x1', '2x2'] },
  })
  expect(bodyOf({ ...draft, prompt: 'cheap' })).toBe(null)
  expect(bodyOf({ ...draft, completion: '' })).toBe(null)
})

test('a change holds what was changed, and nothing else', () => {
  const draft = draftOf(example)
  expect(patchOf(example, draft)).toEqual({})
  const dearer = patchOf(example, { ...draft, completion: '0.7', factor: '1.25' })
  expect(productPatch.parse(dearer)).toEqual({
    pricing: { unit: 'tokens', prompt: '0.00000015', completion: '0.0000007' },
    overheads: { factor: 1.25 },
  })
})

test('a price of a million is exact as the price of one, and what is finer or no price is none', () => {
  expect([usdOfMillion('0.15'), usdOfMillion('100000'), usdOfMillion('0')]).toEqual(['0.00000015', '0.1', '0'])
  expect([usdOfMillion('0.0000001'), usdOfMillion('-1'), usdOfMillion('')]).toEqual([null, null, null])
  expect([usdOfCall(' $0.04'), usdOfCall('1e3')]).toEqual(['0.04', null])
})

test('the address of products says a search and a state, and nothing else', () => {
  expect(productsView({ q: 'a', state: 'draft' })).toEqual({ q: 'a', state: 'draft' })
  expect(productsView({ q: 1, state: 'gone' })).toEqual({})
})

test('what a new product is unless it says otherwise is what the contract says', () => {
  expect(productDefaults).toMatchObject(defaults)
})
