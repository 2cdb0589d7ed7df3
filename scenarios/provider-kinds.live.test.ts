import OpenAI, { APIError } from 'openai'
import { describe, expect } from 'vitest'
import { tracesOfTheProvider } from '@gateway/simulated-provider/provider-traces'
import { severalProvidersTest, type ProviderName } from './src/several-providers.ts'

// Every provider wire format, through the gateway with a stock client: requests are translated in full, responses return in full,
// and usage is charged.

const kinds = ['chat', 'responses', 'azure', 'messages', 'gemini', 'bedrock'] as const satisfies ProviderName[]

const test = severalProvidersTest.extend('client', async ({ stack }) => ({ key }: { key: { secret: string } }) => {
  return new OpenAI({ baseURL: `${stack.gateways[0]!.url}/v1`, apiKey: key.secret, maxRetries: 0 })
})

const tools: OpenAI.ChatCompletionTool[] = [
  {
    type: 'function',
    function: {
      name: 'look_up',
      parameters: { type: 'object', properties: { city: { type: 'string', enum: ['Bern', 'Basel'] } } },
    },
  },
]
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
  const server = kind === 'messages' ? 'second' : 'first'

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

  test('runs a tool round with reasoning and continues from that reasoning', async ({ servers, tenantOf, client }) => {
    const tenant = await tenantOf([kind], 'tapir-think')
    const effort = kind === 'bedrock' ? {} : { reasoning_effort: 'low' as const }
    const ask = { model: tenant.model, tools, ...effort }
    const messages: OpenAI.ChatCompletionMessageParam[] = [user('Where?')]
    const asked = await client(tenant).chat.completions.create({ ...ask, messages })
    const { message, finish_reason: finish } = asked.choices[0]!
    expect(finish).toBe('tool_calls')
    for (const trace of tracesOfTheProvider) expect(JSON.stringify(asked)).not.toContain(trace)
    messages.push(message)
    for (const { id } of message.tool_calls!)
      messages.push({ role: 'tool', tool_call_id: id, content: '{"found":true}' })
    const answered = await client(tenant).chat.completions.create({ ...ask, messages })
    expect(answered.choices[0]!.finish_reason).toBe('stop')
    const sent = (await servers[server].control.calls()).at(-1)!.body!
    expect(/sim_signature|sim_encrypted/.test(sent)).toBe(kind !== 'chat' && kind !== 'azure')
    expect(sent).not.toContain('reasoning_details')
  })

  test('forwards an image', async ({ tenantOf, client, servers }) => {
    const tenant = await tenantOf([kind])
    const url = 'data:image/png;base64,iVBORw0KGgo='
    const content = [
      { type: 'text' as const, text: 'What is it?' },
      { type: 'image_url' as const, image_url: { url } },
    ]
    await client(tenant).chat.completions.create({ model: tenant.model, messages: [user(content)] })
    expect((await servers[server].control.calls()).at(-1)!.body).toContain('iVBORw0KGgo=')
  })

  test('maps provider errors to refusals free of charge [provider_failed] [invalid_request]', async ({
    tenantOf,
    client,
    servers,
    expectCharges,
  }) => {
    const tenant = await tenantOf([kind])
    const ask = () => client(tenant).chat.completions.create({ model: tenant.model, messages: [user('Hello')] })
    const expected = [
      [400, 400, 'invalid_request'],
      [401, 502, 'provider_failed'],
      [429, 502, 'provider_failed'],
      [503, 502, 'provider_failed'],
    ] as const
    for (const [status, shown, code] of expected) {
      await servers[server].control.setFaults([{ status, retryAfter: 60 }])
      const refusal = await refusalOf(ask())
      expect([refusal.status, refusal.code]).toEqual([shown, code])
      for (const trace of tracesOfTheProvider) expect(JSON.stringify(refusal.error)).not.toContain(trace)
    }
    await expectCharges(tenant, 0, 0)
  })

  test('counts tokens itself if the provider reports no usage', async ({ stack, tenantOf, client, servers }) => {
    const tenant = await tenantOf([kind])
    await servers[server].control.setFaults([{ missingUsage: true }])
    const ask = { model: tenant.model, messages: [user('Name a harbour')] }
    const { usage } = await client(tenant).chat.completions.create(ask)
    expect(usage!.total_tokens).toBeGreaterThan(0)
    await stack.untilNothingIsReserved(tenant.project.id, 5_000)
    expect(await stack.invocations(tenant.project.id)).toMatchObject([{ state: 'Settled', estimated: true }])
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
