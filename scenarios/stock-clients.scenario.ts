import { hash, randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import OpenAI from 'openai'
import { startFaultProxy } from '@gateway/testbed/fault-proxy'
import { describe, expect } from 'vitest'
import { langChain } from './src/clients/langchain.ts'
import { llamaIndex } from './src/clients/llamaindex.ts'
import { mastra } from './src/clients/mastra.ts'
import { anthropicNode } from './src/clients/anthropic-node.ts'
import { openAiAgents } from './src/clients/openai-agents.ts'
import { openAiResponses } from './src/clients/openai-responses.ts'
import { openAiNode } from './src/clients/openai-node.ts'
import { openAiPython } from './src/clients/openai-python.ts'
import type { Spoken, StockClient, Thrown } from './src/clients/stock-client.ts'
import { vercelAiSdk } from './src/clients/vercel-ai-sdk.ts'
import type { Stack } from './src/stack.ts'
import { stackTest } from './src/stack-test.ts'

// Unmodified third-party clients, configured with a base URL, a key and a model only.

const clients: StockClient[] = [
  openAiNode,
  openAiResponses,
  openAiAgents,
  anthropicNode,
  ...vercelAiSdk,
  ...langChain,
  llamaIndex,
  mastra,
  openAiPython,
]

const test = stackTest.extend('tenant', async ({ stack }, { onCleanup }) => {
  const tenant = await stack.tenant(10_000_000n)
  const gateway = new URL(stack.gateways[0]!.url)
  const proxy = await startFaultProxy({ host: gateway.hostname, port: Number(gateway.port) })
  onCleanup(proxy.close)
  const endpoint = (more: Partial<{ key: string; model: string; baseUrl: string }> = {}) => ({
    baseUrl: `${gateway.origin}/v1`,
    key: tenant.key.secret,
    model: tenant.model,
    ...more,
  })
  const settled = async () => Number((await stack.wallet(tenant.project.id)).settled)
  return {
    ...tenant,
    proxy,
    endpoint,
    proxied: () => endpoint({ baseUrl: `http://127.0.0.1:${proxy.port}/v1` }),
    settled,
  }
})

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

const tokens = ({ usage }: Spoken) => usage.prompt + usage.completion
const newPrompt = () => `Tell me of ${randomUUID()}.`

describe.each(clients)('$name', (client) => {
  // spec: 1/s1, 1/s4, 4.2/s7
  test('completes a chat and is charged the reported usage', async ({ tenant }) => {
    const spoken = await client.at(tenant.endpoint()).complete(newPrompt())
    expect(spoken.text.length).toBeGreaterThan(10)
    expect(tokens(spoken)).toBeGreaterThan(10)
    expect(await tenant.settled()).toBe(tokens(spoken))
  })

  // spec: can/streams
  test('streams a chat in pieces and is charged the reported usage', async ({ tenant }) => {
    const spoken = await client.at(tenant.endpoint()).stream(newPrompt())
    expect(spoken.text.length).toBeGreaterThan(10)
    expect(spoken.pieces).toBeGreaterThan(3)
    expect(tokens(spoken)).toBeGreaterThan(10)
    expect(await tenant.settled()).toBe(tokens(spoken))
  })

  // spec: 4.2/s2, can/tools
  test('calls a tool, returns its result to the model, and is charged for both rounds', async ({ stack, tenant }) => {
    const cities: string[] = []
    const prompt = newPrompt()
    const spoken = await client.at(tenant.endpoint()).useTool(prompt, (city) => {
      cities.push(city)
      return { degrees: 21 }
    })
    expect(cities).toEqual([expect.any(String)])
    expect(spoken.text.length).toBeGreaterThan(10)
    expect(await stack.provider.control.countCalls({ prompt })).toBe(2)
    expect(await tenant.settled()).toBe(tokens(spoken))
    const [, second] = await stack.provider.control.calls({ prompt })
    expect(JSON.parse(second!.body!)).toMatchObject({
      messages: [
        { role: 'user' },
        { role: 'assistant', tool_calls: [{ type: 'function', function: { name: 'forecast' } }] },
        { role: 'tool', content: expect.stringMatching(/"degrees": ?21/) },
      ],
    })
  })

  // spec: can/tools
  test('gets an object that matches the requested schema', async ({ tenant }) => {
    const spoken = await client.at(tenant.endpoint()).object(newPrompt())
    expect(spoken.value).toEqual({
      city: expect.any(String),
      population: expect.any(Number),
      capital: expect.any(Boolean),
    })
    expect(await tenant.settled()).toBe(tokens(spoken))
  })

  test('sends an image and a PDF file, which reach the model unchanged', async ({ stack, tenant }) => {
    const [png, pdf] = [PNG, Buffer.from('%PDF-1.7 and so on')]
    const model = await stack.fixture.publishProduct({
      promptPico: 1_000_000n,
      completionPico: 1_000_000n,
      maxTokensPerImage: 1_000,
      takesFiles: true,
      contextLength: 20_000,
    })
    await stack.fixture.assign(tenant.project.id, model)
    const prompt = newPrompt()
    const attached = { png: png.toString('base64'), pdf: pdf.toString('base64') }
    const spoken = await client.at(tenant.endpoint({ model })).look(prompt, attached)
    expect(spoken.text.length).toBeGreaterThan(10)
    const [call] = await stack.provider.control.calls({ prompt })
    expect(call).toMatchObject({ images: [hash('sha256', png)], files: [hash('sha256', pdf)] })
    expect(await tenant.settled()).toBe(tokens(spoken))
  })

  test('disconnects mid-stream, and the call is charged to its end and releases its reservation', async ({
    stack,
    tenant,
  }) => {
    const prompt = newPrompt()
    await stack.provider.control.setFaults([{ prompt, perChunkMs: 10 }])
    await client.at(tenant.endpoint()).leaveStream(prompt)
    await stack.untilNothingIsReserved(tenant.project.id, 10_000)
    const [invocation] = await stack.invocations(tenant.project.id)
    expect(invocation).toMatchObject({ state: 'Settled', estimated: false })
    expect((await stack.provider.control.calls({ prompt })).map(({ outcome }) => outcome)).toEqual(['finished'])
    expect(await tenant.settled()).toBe(Number(invocation!.chargedMicro))
  })

  test('throws its own error for a refusal and does not retry [key_invalid] [model_not_found] [insufficient_budget]', async ({
    stack,
    tenant,
  }) => {
    const poor = await stack.tenant(1n)
    const cases = [
      { endpoint: tenant.endpoint({ key: `svc_${'0'.repeat(49)}` }), status: 401, code: 'key_invalid' },
      { endpoint: tenant.endpoint({ model: 'acme/nothing' }), status: 404, code: 'model_not_found' },
      {
        endpoint: tenant.endpoint({ key: poor.key.secret, model: poor.model }),
        status: 402,
        code: 'insufficient_budget',
      },
    ]
    for (const { endpoint, status, code } of cases)
      for (const way of ['complete', 'stream'] as const) {
        const before = await refusalsOf(stack, code)
        const work = client.at(endpoint)
        const call = way === 'complete' ? work.complete : work.stream
        const thrown = await thrownBy(call(newPrompt(), { retries: 2 }))
        expect(thrown.status).toBe(status)
        expect((await refusalsOf(stack, code)) - before).toBe(1)
        expect(`${thrown.code} ${thrown.message}`).toMatch(saidOf[code]!)
      }
    expect(await tenant.settled()).toBe(0)
  })

  test('throws for a failing model and a truncated stream [provider_failed]', async ({ stack, tenant }) => {
    const [failing, breaking] = [newPrompt(), newPrompt()]
    await stack.provider.control.setFaults([
      { prompt: failing, status: 500 },
      { prompt: breaking, cut: { afterChunk: 3 } },
    ])
    expect((await thrownBy(client.at(tenant.endpoint()).complete(failing))).status).toBe(502)
    await expect(client.at(tenant.endpoint()).stream(breaking)).rejects.toThrow()
  })

  test('retries a connection cut after the response was made, and is charged once', async ({ stack, tenant }) => {
    for (const way of ['complete', 'stream'] as const) {
      const prompt = newPrompt()
      const before = await tenant.settled()
      const cut = tenant.proxy.cutAfter(60, 'toClient')
      const spoken = await client.at(tenant.proxied())[way](prompt, { idempotencyKey: randomUUID(), retries: 2 })
      await cut
      expect(spoken.text.length).toBeGreaterThan(10)
      expect(await stack.provider.control.countCalls({ prompt })).toBe(1)
      expect((await tenant.settled()) - before).toBe(tokens(spoken))
    }
    expect((await stack.invocations(tenant.project.id)).map(({ state, attempt }) => [state, attempt])).toEqual([
      ['Settled', 1],
      ['Settled', 1],
    ])
  })

  test('replays the whole stream under its idempotency key after a cut mid-stream', async ({ stack, tenant }) => {
    const prompt = newPrompt()
    const idempotencyKey = randomUUID()
    const cut = tenant.proxy.cutAfter(1_500, 'toClient')
    await expect(client.at(tenant.proxied()).stream(prompt, { idempotencyKey })).rejects.toThrow()
    await cut
    const spoken = await client.at(tenant.proxied()).stream(prompt, { idempotencyKey })
    expect(spoken.pieces).toBeGreaterThan(3)
    expect(await stack.provider.control.countCalls({ prompt })).toBe(1)
    expect(await tenant.settled()).toBe(tokens(spoken))
  })
})

// spec: 0/s4, 1/s4, 4.1/s2
test('the OpenAI client for Node lists the models that the key can call, and reads one', async ({ tenant }) => {
  const { baseUrl, key, model } = tenant.endpoint()
  const { models } = new OpenAI({ baseURL: baseUrl, apiKey: key, maxRetries: 0 })
  expect((await models.list()).data.map(({ id }) => id)).toEqual([model])
  expect(await models.retrieve(model)).toMatchObject({ id: model, object: 'model', owned_by: 'acme' })
})

test('docs/clients.md names the version of each package that is tested', async () => {
  const page = await readFile(path.join(import.meta.dirname, '../docs/clients.md'), 'utf8')
  const manifest = await readFile(path.join(import.meta.dirname, 'package.json'), 'utf8')
  const { devDependencies } = JSON.parse(manifest) as { devDependencies: Record<string, string> }
  const rows = [...page.matchAll(/^\| [^|]+ \| `([^`]+)` \| ([^ ]+) \| ([^|]+) \|/gm)]
  const chats = rows.filter(([, , , wire]) => wire !== 'Embeddings')
  expect(chats).toHaveLength(clients.length - 1) // that of Python is not on this machine
  for (const [, name, version] of rows) expect([name, version]).toEqual([name, devDependencies[name!]])
})

/** Number of refusals with this code, from the gateway's metrics. */
async function refusalsOf(stack: Stack, code: string): Promise<number> {
  const metrics = await (await fetch(`${stack.gateways[0]!.metricsUrl}/metrics`)).text()
  return Number(new RegExp(`^gateway_refusals_total\\{[^}]*code="${code}"[^}]*\\} (\\d+)`, 'm').exec(metrics)?.[1] ?? 0)
}

/** Every client exposes the message of a refusal, and some its code. */
const saidOf: Record<string, RegExp> = {
  key_invalid: /key_invalid|invalid API key/i,
  model_not_found: /model_not_found|does not exist or is not available/,
  insufficient_budget: /insufficient_budget|wallet has/,
}

async function thrownBy(call: Promise<unknown>): Promise<Thrown> {
  const error = await call.catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(Error)
  const { status, statusCode, code, message } = error as Error & { status?: number; statusCode?: number; code?: string }
  return { status: status ?? statusCode, code, message }
}
