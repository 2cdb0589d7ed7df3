import { randomUUID } from 'node:crypto'
import type { ProviderTry } from '@gateway/api/chat-answer'
import type { ProductPricing } from '@gateway/api/console/products'
import OpenAI from 'openai'
import { describe, expect } from 'vitest'
import { chat, type TenantFixture } from './src/stack.ts'
import { providers, severalProvidersTest as test, type ProviderName } from './src/several-providers.ts'

// Several providers for one product: the caller sees one call, with one reservation and one charge.
// packages/providers proves retries and circuits; fault-matrix.scenario.ts covers the outcome of each provider fault.

interface Body {
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number }
}
const bodyOf = async (answer: Response) => (await answer.json()) as Body

describe('provider selection', () => {
  // spec: can/failover
  test('records each try and the first token of a stream with the call', async ({ stack, servers, tenantOf }) => {
    const tenant = await tenantOf(['chat', 'messages'])
    await servers.first.control.setFaults([{ status: 503 }])
    const answer = await chat(stack, tenant, { body: { stream: true, messages: [{ role: 'user', content: 'Hello' }] } })
    await answer.text()
    const attempts = async () => {
      const { rows } = await stack.fixture.run(
        'SELECT first_token_ms AS "firstTokenMs", tries FROM money.attempts WHERE project = $1',
        [tenant.project.id],
      )
      return rows as { firstTokenMs: number; tries: string }[]
    }
    await expect.poll(attempts).toHaveLength(1)
    const [{ firstTokenMs, tries }] = (await attempts()) as [{ firstTokenMs: number; tries: string }]
    const [failed, answered] = JSON.parse(tries) as ProviderTry[]
    expect([failed, answered]).toMatchObject([
      { provider: 'chat', outcome: 'refused' },
      { provider: 'messages', outcome: 'answered' },
    ])
    expect(answered!.startMs).toBeGreaterThanOrEqual(failed!.endMs)
    expect(firstTokenMs).toBeGreaterThanOrEqual(answered!.startMs)
    expect(firstTokenMs).toBeLessThanOrEqual(answered!.endMs)
  })

  // spec: can/failover
  test('records what the provider that answered charges, and nothing if that is unknown', async ({
    stack,
    servers,
    tenantOf,
  }) => {
    const perToken = { unit: 'tokens', prompt: '0.000000300001', completion: '0.0000007' } as const
    const costs: ProductPricing[] = [{ unit: 'request', request: '0.001' }, perToken]
    const [costed, unknown] = [
      await tenantOf(['chat', 'messages'], undefined, costs),
      await tenantOf(['messages', 'chat']),
    ]
    const costsOf = async ({ project }: TenantFixture) => {
      await stack.untilNothingIsReserved(project.id, 5_000)
      const { rows } = await stack.fixture.run(
        `SELECT cost_pico - 300001 * prompt_tokens - 700000 * completion_tokens AS beyond_tokens, cost_pico
           FROM money.attempts WHERE project = $1 ORDER BY closed_at`,
        [project.id],
      )
      return rows as { beyond_tokens: string | null; cost_pico: string | null }[]
    }
    for (const stream of [false, true]) await (await chat(stack, costed, { body: { stream } })).text()
    expect(await costsOf(costed)).toMatchObject([{ cost_pico: '1000000000' }, { cost_pico: '1000000000' }])
    await servers.first.control.setFaults([{ status: 503 }])
    for (const stream of [false, true]) await (await chat(stack, costed, { body: { stream } })).text()
    expect((await costsOf(costed)).slice(2)).toMatchObject([{ beyond_tokens: '0' }, { beyond_tokens: '0' }])
    await (await chat(stack, unknown)).text()
    expect(await costsOf(unknown)).toMatchObject([{ cost_pico: null }])
    await servers.second.control.setFaults([{ status: 503 }])
    expect((await chat(stack, costed)).status).toBe(502)
    expect((await costsOf(costed)).at(-1)).toMatchObject({ cost_pico: null })
  })

  // spec: 9/s3, can/failover
  test('answers and charges every call once when a provider dies under load', async ({
    stack,
    servers,
    tenantOf,
    expectCharges,
  }) => {
    const tenant = await tenantOf(['doomed', 'messages'])
    await servers.third.control.setFaults([{ latencyMs: 50 }])
    const callers = Array.from({ length: 60 }, async (_, n) => {
      const body = { messages: [{ role: 'user', content: `Call ${n}` }] }
      return chat(stack, tenant, { body, headers: { 'idempotency-key': randomUUID() } })
    })
    await servers.third.control.waitForCalls(5)
    await servers.third.stop()
    const answers = await Promise.all(callers)
    expect(answers.map(({ status }) => status)).toEqual(Array(60).fill(200))
    const usages = await Promise.all(answers.map(async (answer) => (await bodyOf(answer)).usage.total_tokens))
    expect(await servers.second.control.countCalls()).toBeGreaterThan(0)
    await expectCharges(
      tenant,
      60,
      usages.reduce((sum, tokens) => sum + tokens, 0),
    )
  })
})

describe('one product in two wire formats', () => {
  const clientTest = test.extend('client', async ({ stack }) => {
    return ({ key }: TenantFixture) =>
      new OpenAI({ baseURL: `${stack.gateways[0]!.url}/v1`, apiKey: key.secret, maxRetries: 0 })
  })
  const orders: ProviderName[][] = [
    ['messages', 'chat'],
    ['chat', 'messages'],
  ]
  const tools: OpenAI.ChatCompletionTool[] = [
    {
      type: 'function',
      function: {
        name: 'forecast',
        parameters: { type: 'object', properties: { city: { enum: ['Bern', 'Basel'] } }, required: ['city'] },
      },
    },
  ]

  for (const order of orders)
    clientTest(
      `runs a tool round that starts on ${order[0]} and ends on ${order[1]}, and charges each call`,
      async ({ servers, tenantOf, client, expectCharges }) => {
        const tenant = await tenantOf(order)
        const [before, after] = order.map((name) => servers[providers[name].at])
        const messages: OpenAI.ChatCompletionMessageParam[] = [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'What is the forecast?' },
        ]
        const stream = client(tenant).chat.completions.stream({
          model: tenant.model,
          messages,
          tools,
          stream_options: { include_usage: true },
        })
        const asked = await stream.finalChatCompletion()
        const [call] = asked.choices[0]!.message.tool_calls!
        expect(call!.id).toMatch(/^call_[0-9a-f]+$/)
        expect(['Bern', 'Basel']).toContain(
          JSON.parse((call as { function: { arguments: string } }).function.arguments).city,
        )
        messages.push(asked.choices[0]!.message, { role: 'tool', tool_call_id: call!.id, content: '{"degrees":21}' })

        await before!.control.setFaults([{ status: 529 }])
        const answered = await client(tenant).chat.completions.create({ model: tenant.model, messages, tools })
        expect(answered.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: expect.any(String) } })
        expect([await before!.control.countCalls(), await after!.control.countCalls()]).toEqual([2, 1])
        await expectCharges(tenant, 2, asked.usage!.total_tokens + answered.usage!.total_tokens)
      },
    )
})
