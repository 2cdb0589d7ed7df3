import { describe, expect, test } from 'vitest'
import type { EmbeddingCall } from './provider-adapter.ts'
import { failureOf, toFirst, twoProviders } from './providers.fixture.ts'

const { first, open } = await twoProviders()
const texts = { kind: 'texts' as const, texts: ['one', 'two'] }
const call: EmbeddingCall = { routes: toFirst, project: 'prj_1', inputs: texts, dimensions: 8 }

describe.for(['openai-compatible', 'openai-responses', 'azure-openai', 'gemini'] as const)('%s', (kind) => {
  test('returns one vector for each input, in order, and the usage', async () => {
    const providers = open(kind)
    const { vectors, promptTokens } = await providers.embed(call)
    expect(vectors.map(({ length }) => length)).toEqual([8, 8])
    expect(promptTokens).toBe(2)
    const { vectors: alone } = await providers.embed({ ...call, inputs: { kind: 'texts', texts: ['two'] } })
    expect(alone[0]).toEqual(vectors[1])
  })

  test.for<[why: string, body: object]>([
    ['fewer vectors than inputs', { data: [{ embedding: [1] }], embeddings: [{ values: [1] }] }],
    ['vectors of another length', reply([1, 2], [1, 2])],
    ['vectors of different lengths', reply([1, 2, 3, 4, 5, 6, 7, 8], [1])],
    ['a vector with an entry that is not a number', reply([1, 2, 3, 4, 5, 6, 7, 'x'], [1, 2, 3, 4, 5, 6, 7, 8])],
    ['no vectors', {}],
  ])('rejects a response with %s', async ([, body]) => {
    await first.control.setFaults([{ status: 200, body, headers: { 'content-type': 'application/json' } }])
    expect(await failureOf(open(kind).embed(call))).toMatchObject({ kind: 'garbage' })
  })
})

function reply(...vectors: unknown[][]) {
  return { data: vectors.map((embedding) => ({ embedding })), embeddings: vectors.map((values) => ({ values })) }
}

test('asks for base64 and reads arrays as well', async () => {
  const providers = open('openai-compatible')
  const body = { data: [{ embedding: [0.5] }], usage: { prompt_tokens: 'x' } }
  await first.control.setFaults([{ status: 200, body, headers: { 'content-type': 'application/json' } }])
  const one = { ...call, inputs: { kind: 'tokens' as const, tokens: [[7, 8]] }, dimensions: null }
  expect(await providers.embed(one)).toMatchObject({ vectors: [Float32Array.of(0.5)], promptTokens: null })
  const [logged] = await first.control.calls()
  expect(JSON.parse(logged!.body!)).toEqual({ model: 'sim-swift', input: [[7, 8]], encoding_format: 'base64' })
})

test.for(['anthropic', 'bedrock'] as const)('%s has no embeddings', async (kind) => {
  expect(await failureOf(open(kind).embed(call))).toMatchObject({ kind: 'refused', asked: false })
})

test('Gemini takes no tokens and at most 100 inputs', async () => {
  const providers = open('gemini')
  const many = { kind: 'texts' as const, texts: Array.from({ length: 101 }, () => 'x') }
  for (const inputs of [{ kind: 'tokens' as const, tokens: [[1]] }, many])
    expect(await failureOf(providers.embed({ ...call, inputs }))).toMatchObject({ unsayable: { field: 'input' } })
})
