import OpenAI, { APIError } from 'openai'
import { describe, expect } from 'vitest'
import { severalProvidersTest, type ProviderName } from './src/several-providers.ts'

// Every provider wire format through the gateway with a stock client: its text, its usage and its charge. packages/providers proves
// the rest of each format.

const kinds = ['chat', 'responses', 'azure', 'messages', 'gemini', 'bedrock'] as const satisfies ProviderName[]

const test = severalProvidersTest.extend('client', async ({ stack }) => ({ key }: { key: { secret: string } }) => {
  return new OpenAI({ baseURL: `${stack.gateways[0]!.url}/v1`, apiKey: key.secret, maxRetries: 0 })
})

const user = (content: OpenAI.ChatCompletionUserMessageParam['content']) => ({ role: 'user' as const, content })

async function refusalOf(promise: Promise<unknown>): Promise<APIError> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  )
  if (error instanceof APIError) return error
  throw new Error('it was not refused', { cause: error })
}

describe.each(kinds)('provider kind %s', (kind) => {
  test('returns text, whole and streamed, and charges its usage', async ({ tenantOf, client, expectCharges }) => {
    const tenant = await tenantOf([kind])
    const ask = { model: tenant.model, messages: [user('Name a harbour')], max_tokens: 200 }
    const { choices, usage } = await client(tenant).chat.completions.create(ask)
    expect(choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: expect.stringContaining('harbour') },
    })
    const stream = client(tenant).chat.completions.stream({ ...ask, stream_options: { include_usage: true } })
    const streamed = await stream.finalChatCompletion()
    expect(streamed.choices[0]!.message.content).toBe(choices[0]!.message.content)
    expect(streamed.usage).toEqual(usage)
    await expectCharges(tenant, 2, 2 * usage!.total_tokens)
  })
})

test.for(['messages', 'gemini', 'bedrock'] as const)(
  'provider kind %s refuses a parameter it cannot express, naming the field and a resolution [invalid_request]',
  async (kind, { tenantOf, client, servers, expectCharges }) => {
    const tenant = await tenantOf([kind])
    const messages = [user('Hello'), { role: 'system' as const, content: 'Be brief.' }]
    const refusal = await refusalOf(client(tenant).chat.completions.create({ model: tenant.model, messages }))
    expect([refusal.status, refusal.code, refusal.param]).toEqual([400, 'invalid_request', 'messages.1.role'])
    expect(refusal.message).toContain('takes instructions in front only')
    const { resolution } = refusal.error as { resolution: string }
    expect(resolution).toContain('put the message in front')
    const { control } = servers[kind === 'messages' ? 'second' : 'first']
    expect(await control.countCalls()).toBe(0)
    await expectCharges(tenant, 0, 0)
  },
)

test.for(['messages', 'gemini', 'bedrock'] as const)(
  'provider kind %s charges tokens read from a cache and written to it at the product’s prices for them',
  async (kind, { stack, servers, tenantOf, client, expectCharges }) => {
    const tenant = await tenantOf([kind])
    await stack.fixture.run(
      'UPDATE control.products SET cached_pico = 0, cache_write_pico = 3 * prompt_pico WHERE id = $1',
      [tenant.model],
    )
    const marked = { ...user('Name a harbour'), cache_control: { type: 'ephemeral' } }
    const { usage } = await client(tenant).chat.completions.create({ model: tenant.model, messages: [marked] })
    const { cached_tokens: cached = 0, cache_write_tokens: written } = usage!.prompt_tokens_details!
    expect(cached).toBeGreaterThan(0)
    if (kind !== 'gemini') expect(written).toBeGreaterThan(0)
    await expectCharges(tenant, 1, usage!.total_tokens - cached + 2 * (written ?? 0))
    expect(await stack.invocations(tenant.project.id)).toMatchObject([
      { cachedTokens: cached, cacheWriteTokens: written ?? null },
    ])
    const { body } = (await servers[kind === 'messages' ? 'second' : 'first'].control.calls())[0]!
    expect(/"cache_control"|"cachePoint"/.test(body!)).toBe(kind !== 'gemini')
  },
)
