import { newProductBody, productPatch, productRecord, type ProductRecord } from '@gateway/api/console/products'
import { expect, test } from 'vitest'
import { productsView } from './operator-views.ts'
import {
  bodyOf,
  costOf,
  draftOf,
  emptyDraft,
  emptyPrices,
  emptyRoute,
  patchOf,
  usdOfCall,
  usdOfMillion,
  withKind,
} from './product-draft.ts'

const [example] = productRecord.meta()!.examples as [ProductRecord]
const providers = [{ ...emptyRoute('chat', []), provider: 'simulated', model: 'm-1' }]
const named = { id: 'acme/new', name: 'New', ownedBy: 'acme', providers }

test('bodyOf turns a filled-in form into a valid request body with exact token prices', () => {
  const draft = {
    ...emptyDraft('chat'),
    ...named,
    prompt: '0.15',
    completion: '$0.000001',
    cachedPrompt: '0',
    cacheWrite: '0.3',
  }
  expect(newProductBody.parse(bodyOf(draft))).toMatchObject({
    state: 'draft',
    pricing: {
      unit: 'tokens',
      prompt: '0.00000015',
      completion: '0.000000000001',
      cachedPrompt: '0',
      cacheWrite: '0.0000003',
    },
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

test('patchOf contains the changed fields only', () => {
  const draft = draftOf(example)
  expect(patchOf(example, draft)).toEqual({})
  const patch = patchOf(example, { ...draft, completion: '0.7', factor: '1.25' })
  expect(productPatch.parse(patch)).toEqual({
    pricing: { unit: 'tokens', prompt: '0.00000015', completion: '0.0000007' },
    overheads: { factor: 1.25 },
  })
})

test('usdOfMillion converts a price per million to the exact price of one token and rejects finer or invalid prices', () => {
  expect([usdOfMillion('0.15'), usdOfMillion('100000'), usdOfMillion('0')]).toEqual(['0.00000015', '0.1', '0'])
  expect([usdOfMillion('0.0000001'), usdOfMillion('-1'), usdOfMillion('')]).toEqual([null, null, null])
  expect([usdOfCall(' $0.04'), usdOfCall('1e3')]).toEqual(['0.04', null])
})

test('productsView keeps a valid search and state and drops the rest', () => {
  expect(productsView({ q: 'a', state: 'draft' })).toEqual({ q: 'a', state: 'draft' })
  expect(productsView({ q: 1, state: 'gone' })).toEqual({})
})

test('a route carries the cost that was entered, and an incomplete cost makes the draft invalid', () => {
  const draft = { ...emptyDraft('chat'), ...named, prompt: '1', completion: '2' }
  const costing = (cost: object) => ({
    ...draft,
    providers: [{ ...providers[0]!, cost: { ...emptyPrices('chat'), ...cost } }],
  })
  expect(bodyOf(draft)?.providers).toEqual([{ provider: 'simulated', model: 'm-1', priority: 1 }])
  expect(bodyOf(costing({ prompt: '0.8', completion: '1.6' }))?.providers[0]?.cost).toEqual({
    unit: 'tokens',
    prompt: '0.0000008',
    completion: '0.0000016',
  })
  expect(bodyOf(costing({ prompt: '0.8' }))).toBe(null)
  expect(costOf('embedding', emptyPrices('embedding'))).toBe(undefined)
  expect(costOf('embedding', { ...emptyPrices('embedding'), prompt: '0' })).toMatchObject({ prompt: '0' })
})

test('a form whose kind changes keeps what was typed, and lacks no price that it does not show', () => {
  const cost = { ...emptyPrices('chat'), prompt: '1', completion: '2' }
  const typed = { ...emptyDraft('chat'), ...named, prompt: '3', providers: [{ ...providers[0]!, cost }] }
  const embedding = { ...typed, ...withKind(typed, 'embedding') }
  const body = bodyOf(embedding)
  expect(newProductBody.parse(body)).toMatchObject({
    kind: 'embedding',
    maxOutputTokens: 1,
    pricing: { unit: 'tokens', prompt: '0.000003', completion: '0' },
    supportedParameters: ['dimensions'],
    providers: [{ cost: { unit: 'tokens', prompt: '0.000001', completion: '0' } }],
  })
  const image = { ...embedding, ...withKind(embedding, 'image'), request: '0.04' }
  expect(bodyOf(image)).toMatchObject({ pricing: { unit: 'request', request: '0.04' } })
  expect({ ...image, ...withKind(image, 'chat') }).toEqual({ ...typed, request: '0.04' })
})

test('shared priorities and unsorted routes survive an edit that leaves the order', () => {
  const routes = [
    { provider: 'late', model: 'm', priority: 7 },
    { provider: 'first', model: 'm', priority: 0 },
    { provider: 'second', model: 'm', priority: 0 },
  ]
  const product = { ...example, providers: routes }
  const draft = draftOf(product)
  expect(draft.providers.map(({ provider }) => provider)).toEqual(['first', 'second', 'late'])
  expect(patchOf(product, { ...draft, name: 'Other' })).toEqual({ name: 'Other' })
  expect(emptyRoute('chat', draft.providers)).toMatchObject({ key: 3, priority: 8 })
})
