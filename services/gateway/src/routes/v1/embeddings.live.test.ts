import { admissionCheck } from '@gateway/api/admission-check'
import { embeddingsShape } from '@gateway/api/embeddings'
import { modelList } from '@gateway/api/model-entry'
import { describe, expect } from 'vitest'
import { errorOf, newPrompt, stackTest } from '../../stack.fixture.ts'

// Embeddings through a real gateway, ledger and simulated provider: 1 micro-USD per prompt token.

const MIB = 1024 * 1024

const test = stackTest
  .extend('settings', { scope: 'file' }, () => ({ gateway: { MAX_CONCURRENT_IMAGE_BYTES: String(42 * MIB) } }))
  .extend('embedder', ({ tenant }) =>
    tenant.sell({ kind: 'embedding', completionPico: 0n, maxOutputTokens: 1, supportedParameters: ['dimensions'] }),
  )
  .extend(
    'embed',
    ({ tenant, embedder }) =>
      (fields: object = {}, headers: Record<string, string> = {}) =>
        fetch(`${tenant.url}/v1/embeddings`, {
          method: 'POST',
          body: JSON.stringify({ model: embedder, input: newPrompt(), ...fields }),
          headers: { ...tenant.headers, ...headers },
        }),
  )

const read = async (answer: Response) => embeddingsShape.parse(await answer.json())

describe('POST /v1/embeddings', () => {
  test('returns a vector for each input and charges the reported tokens once', async ({ tenant, embed }) => {
    const answer = await embed({ input: ['four', 'eight on'], dimensions: 8, user: 'u' })
    expect(answer.headers.get('x-service-invocation')).toMatch(/^inv_/)
    const { data, usage } = await read(answer)
    expect(data.map(({ index, embedding }) => [index, embedding.length])).toEqual([
      [0, 8],
      [1, 8],
    ])
    expect(usage).toEqual({ prompt_tokens: 3, total_tokens: 3, cost: 0.000003, cost_micro: 3 })
    expect(await tenant.wallet()).toEqual({ reserved: 0, settled: 3 })
  })

  test('records what the provider charges', async ({ tenant, embed, fixture }) => {
    const cost = { unit: 'tokens', prompt: '0.000000070001', completion: '0' } as const
    const providers = [{ provider: 'simulated', model: 'sim', priority: 1, cost }]
    const model = await tenant.sell({ kind: 'embedding', completionPico: 0n, maxOutputTokens: 1, providers })
    const answer = await embed({ model, input: ['four', 'eight on'] })
    const { rows } = await fixture.run('SELECT cost_pico FROM money.attempts WHERE invocation = $1', [
      answer.headers.get('x-service-invocation'),
    ])
    expect(rows).toEqual([{ cost_pico: '210003' }])
  })

  test('returns the same vector as numbers and as base64', async ({ embed }) => {
    const input = [[1, 2, 3]]
    const [float, base64] = await Promise.all(
      ['float', 'base64'].map(async (format) => read(await embed({ input, encoding_format: format }))),
    )
    const bytes = new Uint8Array(Buffer.from(base64!.data[0]!.embedding as string, 'base64'))
    expect(Array.from(new Float32Array(bytes.buffer))).toEqual(float!.data[0]!.embedding)
    expect(float!.usage.prompt_tokens).toBe(3)
  })

  test('replays a call under its idempotency key byte for byte, charged once', async ({ tenant, embed }) => {
    const headers = { 'idempotency-key': newPrompt() }
    const [first, again] = [await embed({ input: 'four' }, headers), await embed({ input: 'four' }, headers)]
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(await again.text()).toBe(await first.text())
    expect(await tenant.settled()).toBe(1)
    expect(await errorOf(await embed({ input: 'five' }, headers))).toMatchObject({ code: 'idempotency_mismatch' })
  })

  test('counts the inputs itself if the provider reports no usage', async ({ tenant, embed, stack }) => {
    const input = newPrompt()
    await stack.provider.control.setFaults([{ prompt: input, missingUsage: true }])
    const { usage } = await read(await embed({ input }))
    expect(usage.prompt_tokens).toBeGreaterThan(1)
    expect(await tenant.settled()).toBe(usage.prompt_tokens)
  })

  test('reserves what a check of the call says', async ({ tenant, embed, embedder, stack }) => {
    const { control } = stack.provider
    const input = newPrompt()
    const check = await fetch(`${tenant.url}/v1/key/check`, {
      method: 'POST',
      headers: tenant.headers,
      body: JSON.stringify({ model: embedder, promptBytes: Buffer.byteLength(input) }),
    })
    const { admitted, boundMicro } = admissionCheck.parse(await check.json())
    await control.setFaults([{ prompt: input, hold: true }])
    const running = embed({ input })
    await control.waitForCalls(1, { prompt: input })
    expect([admitted, boundMicro]).toEqual([true, (await tenant.wallet()).reserved])
    await control.release()
    await (await running).text()
  })

  test('charges nothing if the provider fails', async ({ tenant, embed, stack }) => {
    const input = newPrompt()
    await stack.provider.control.setFaults([{ prompt: input, status: 400 }])
    expect((await embed({ input })).ok).toBe(false)
    expect(await tenant.wallet()).toEqual({ reserved: 0, settled: 0 })
  })

  test('names cures of an embedding call, not of a chat [invalid_request, provider_failed, context_limit]', async ({
    tenant,
    embed,
    stack,
  }) => {
    const small = await tenant.sell({ kind: 'embedding', completionPico: 0n, contextLength: 2, maxOutputTokens: 1 })
    const resolutions = new Map<unknown, string>()
    for (const [fault, model, count = 1] of [
      [{ status: 400 }],
      [{ status: 500 }],
      [{ oversizedBytes: 40 * MIB }, undefined, 2_048],
      [{}, small],
    ] as const) {
      const prompt = newPrompt()
      await stack.provider.control.setFaults([{ prompt, ...fault }])
      const input = Array.from({ length: count }, () => prompt)
      const { code, resolution } = await errorOf(await embed({ input, ...(model && { model }) }))
      resolutions.set(`${code as string} ${Object.keys(fault).join()}`, resolution as string)
    }
    expect([...resolutions.keys()]).toEqual([
      'invalid_request status',
      'provider_failed status',
      'invalid_request oversizedBytes',
      'context_limit ',
    ])
    for (const resolution of resolutions.values()) {
      expect(resolution).not.toMatch(/messages|max_tokens|\/v1\/models/)
      expect(resolution).toContain('GET /v1/embeddings/models')
    }
  })

  test('refuses what the limits of a key, a wallet or a product do not cover', async ({ tenant, embed, embedder }) => {
    const limited = await tenant.key({ limit: { micro: 1n, reset: 'lifetime' } })
    const byLimited = await embed({}, { authorization: `Bearer ${limited.secret}` })
    expect(await errorOf(byLimited)).toMatchObject({ code: 'key_limit' })
    const plain = await tenant.sell({ kind: 'embedding', completionPico: 0n, supportedParameters: [] })
    expect(await errorOf(await embed({ model: plain, dimensions: 8 }))).toMatchObject({ param: 'dimensions' })
    const dear = await tenant.sell({ kind: 'embedding', promptPico: 100_000_000_000n, completionPico: 0n })
    expect(await errorOf(await embed({ model: dear }))).toMatchObject({ code: 'insufficient_budget' })
    expect(await errorOf(await embed({ model: tenant.model }))).toMatchObject({ code: 'model_not_found' })
    expect(await errorOf(await tenant.chat({ model: embedder }))).toMatchObject({ code: 'model_not_found' })
    expect(await tenant.wallet()).toEqual({ reserved: 0, settled: 0 })
  })

  test('counts the token IDs of a call toward the tokens per minute [rate_limited]', async ({ tenant, embed }) => {
    const { secret } = await tenant.key({ rates: { tokensPerMinute: 100 } })
    const embedTokens = (count: number) =>
      embed({ input: Array.from({ length: count }, () => 1) }, { authorization: `Bearer ${secret}` })
    const refused = await embedTokens(101)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, null])
    expect(await errorOf(refused)).toMatchObject({ code: 'rate_limited', details: { limit: 'tokens', max: 100 } })
    expect((await embedTokens(100)).headers.get('x-ratelimit-remaining-tokens')).toBe('0')
  })
})

test('large calls share the memory for responses, and small calls do not wait for it [overloaded]', async ({
  tenant,
  embed,
  stack,
}) => {
  const { control } = stack.provider
  const memory = async () => {
    const metrics = await (await fetch(`${tenant.metricsUrl}/metrics`)).text()
    return Number(/^gateway_embeddings_memory\S* (\d+)/m.exec(metrics)?.[1])
  }
  const large = (text: string) => embed({ input: Array.from({ length: 1_000 }, () => text) })
  const prompt = newPrompt()
  await control.setFaults([{ prompt, hold: true }])
  const running = large(prompt)
  await control.waitForCalls(1, { prompt, outcome: 'open' })
  await expect.poll(memory).toBe(42 * MIB)
  const [refused, small] = await Promise.all([large('four'), embed()])
  expect([refused.status, (await errorOf(refused))['code'], small.status]).toEqual([503, 'overloaded', 200])
  await control.release()
  expect((await read(await running)).data).toHaveLength(1_000)
  await expect.poll(memory).toBe(0)
  await tenant.settled()
  const served = await large('four')
  expect([served.status, (await read(served)).data.length]).toEqual([200, 1_000])
})

test('embedding models have a list apart from the chat models', async ({ tenant, embedder }) => {
  const list = async (path: string) => {
    const answer = await fetch(`${tenant.url}${path}`, { headers: tenant.headers })
    return modelList.parse(await answer.json()).data
  }
  expect((await list('/v1/models')).map(({ id }) => id)).toEqual([tenant.model])
  expect(await list('/v1/embeddings/models')).toMatchObject([{ id: embedder, max_output_tokens: 0 }])
})
