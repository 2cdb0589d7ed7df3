import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { OpenAIEmbeddings } from '@langchain/openai'
import { OpenAIEmbedding } from '@llamaindex/openai'
import { embedMany } from 'ai'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import OpenAI from 'openai'
import { expect } from 'vitest'
import { severalProvidersTest } from './src/several-providers.ts'

// Stock clients of embeddings, unmodified, with nothing but base address and key.

const test = severalProvidersTest.extend('embedder', ({ stack }) => async (provider: 'chat' | 'azure' | 'gemini') => {
  const tenant = await stack.tenant(10_000_000n)
  const model = await stack.fixture.publishProduct({
    kind: 'embedding',
    promptPico: 1_000_000n,
    completionPico: 0n,
    supportedParameters: ['dimensions'],
    providers: [{ provider, model: 'tapir-embed', priority: 0 }],
  })
  await stack.fixture.assign(tenant.project.id, model)
  const settled = async () => Number((await stack.wallet(tenant.project.id)).settled)
  return { model, baseURL: `${stack.gateways[0]!.url}/v1`, apiKey: tenant.key.secret, settled }
})

const input = ['A harbour', 'A garden']

interface At {
  model: string
  baseURL: string
  apiKey: string
}

/** Clients by their package, each with a function that returns the vectors of both inputs. */
const clients: Record<string, (at: At) => Promise<number[][]>> = {
  async openai({ model, ...at }) {
    const { data } = await new OpenAI({ ...at, maxRetries: 0 }).embeddings.create({ model, input })
    return data.map(({ embedding }) => embedding)
  },
  '@ai-sdk/openai': async ({ model, ...at }) =>
    (await embedMany({ model: createOpenAI(at).embedding(model), values: input, maxRetries: 0 })).embeddings,
  '@ai-sdk/openai-compatible': async ({ model, ...at }) => {
    const { embeddingModel } = createOpenAICompatible({ name: 'gateway', ...at })
    return (await embedMany({ model: embeddingModel(model), values: input, maxRetries: 0 })).embeddings
  },
  '@langchain/openai': ({ model, apiKey, baseURL }) =>
    new OpenAIEmbeddings({ model, apiKey, configuration: { baseURL }, maxRetries: 0 }).embedDocuments(input),
  '@llamaindex/openai': (at) => new OpenAIEmbedding({ ...at, maxRetries: 0 }).getTextEmbeddings(input),
}

test.for(Object.keys(clients))(
  '%s returns the vectors of its inputs and is charged for them',
  async (name, { embedder }) => {
    const at = await embedder('chat')
    const vectors = await clients[name]!(at)
    const direct = await new OpenAI(at).embeddings.create({ model: at.model, input, encoding_format: 'float' })
    expect(vectors).toEqual(direct.data.map(({ embedding }) => embedding))
    expect(vectors.map(({ length }) => length)).toEqual([256, 256])
    expect(await at.settled()).toBe(10) // both calls, 5 tokens each
  },
)

test('docs/clients.md has a row for each client of embeddings', async () => {
  const page = await readFile(path.join(import.meta.dirname, '../docs/clients.md'), 'utf8')
  const rows = [...page.matchAll(/^\| [^|]+ \| `([^`]+)` \| [^|]+ \| Embeddings \|/gm)]
  expect(rows.map(([, name]) => name)).toEqual(Object.keys(clients))
})

test.for(['chat', 'azure', 'gemini'] as const)('OpenAI SDK, provider %s', async (provider, { embedder }) => {
  const { model, apiKey, baseURL } = await embedder(provider)
  const client = new OpenAI({ apiKey, baseURL, maxRetries: 0 })
  const whole = await client.embeddings.create({ model, input, dimensions: 16 })
  const float = await client.embeddings.create({ model, input: input[1]!, dimensions: 16, encoding_format: 'float' })
  expect(whole.data.map(({ embedding }) => embedding.length)).toEqual([16, 16])
  expect(whole.data[1]!.embedding).toEqual(float.data[0]!.embedding)
  expect(whole.usage).toMatchObject({ prompt_tokens: 5, total_tokens: 5, cost_micro: 5 })
})
