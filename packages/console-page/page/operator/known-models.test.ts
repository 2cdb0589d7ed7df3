import { newProductBody } from '@gateway/api/console/products'
import { embeddingLimits } from '@gateway/api/limits'
import { expect, test } from 'vitest'
import { draftOfKnown, knownModels } from './known-models.ts'
import { bodyOf } from './product-draft.ts'

const all = [...knownModels.values()]

test('each known model fills a valid product at list price, with the same cost', () => {
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length)
  for (const known of all) {
    const body = newProductBody.parse(bodyOf(draftOfKnown(known, [])))
    expect(body).toMatchObject({ id: known.id, contextLength: known.contextLength })
    expect(body.providers).toEqual([{ provider: known.provider, model: known.model, priority: 1, cost: body.pricing }])
    if (body.pricing.unit === 'tokens' && body.pricing.cachedPrompt !== undefined)
      expect(Number(body.pricing.cachedPrompt)).toBeLessThan(Number(body.pricing.prompt))
  }
})

test('an embedding takes the largest request of token arrays', () => {
  const embeddings = all.filter(({ kind }) => kind === 'embedding')
  expect(embeddings).not.toEqual([])
  for (const { contextLength } of embeddings) expect(contextLength).toBeGreaterThanOrEqual(embeddingLimits.totalTokens)
})

test('a known model is routed to a configured provider of its kind', () => {
  const sonnet = knownModels.get('Claude Sonnet 4.5')!
  const process = {
    service: 'gateway',
    startedAt: '2026-11-20T08:00:00.000Z',
    credential: 'file',
    credentialChangedAt: null,
    circuit: 'closed',
    circuitSince: '2026-11-20T08:00:00.000Z',
  } as const
  const routed = (providers: [name: string, kind: string][]) =>
    draftOfKnown(
      sonnet,
      providers.map(([provider, kind]) => ({ provider, kind, processes: [process] })),
    ).providers[0]?.provider
  expect(routed([['claude-eu', 'anthropic']])).toBe('claude-eu')
  expect(
    routed([
      ['a', 'anthropic'],
      ['b', 'anthropic'],
    ]),
  ).toBe('anthropic')
})
