import { randomUUID } from 'node:crypto'
import { describe, expect } from 'vitest'
import { tracesOfTheProvider } from '@gateway/simulated-provider/provider-traces'
import type { FaultRule } from '@gateway/simulated-provider/fault-rule'
import { flows } from './src/mcp/flows.ts'
import { paidFlow } from './src/paid-flows.ts'
import { chat, type Stack, type TenantFixture } from './src/stack.ts'
import { stackTest as test } from './src/stack-test.ts'

// No answer says who stands behind a model, or what the stack pays for it; nothing that is not published is listed.

/** Every byte of an answer: status line facts, headers and body. */
async function everyByte(answer: Response): Promise<string> {
  const headers = [...answer.headers].map(([name, value]) => `${name}: ${value}`).join('\n')
  return `${answer.status}\n${headers}\n\n${await answer.text()}`
}

function expectNoTrace(stack: Stack, text: string): void {
  const address = new URL(stack.provider.url)
  for (const trace of [
    ...tracesOfTheProvider,
    'simulated',
    address.host,
    'undici',
    'ECONN',
    '"sim"',
    'x-powered-by',
    'wholesale',
  ]) {
    expect(text.toLowerCase(), `an answer shows ${trace}`).not.toContain(trace.toLowerCase())
  }
  // As a number of its own: some digits of an id or of a time are the same by chance.
  expect(text, 'an answer shows the port').not.toMatch(new RegExp(`\\b${address.port}\\b`))
}

const faults: [what: string, fault: FaultRule | null][] = [
  ['a good answer', null],
  [
    'an error of the provider',
    {
      status: 500,
      body: { error: { message: 'simulated-provider at 127.0.0.1 broke', provider: 'SimulatedProvider' } },
    },
  ],
  [
    'a refusal of the provider',
    { status: 400, body: { error: { message: 'SimulatedProvider says no', type: 'invalid_request_error' } } },
  ],
  ['a wrong key of the provider', { status: 401, body: 'req_sim unauthorized' }],
  ['too many requests', { status: 429, retryAfter: 1 }],
  ['garbage', { garbage: 'before-first-byte' }],
  ['a cut connection', { cut: 'before-first-byte' }],
  ['a cut stream', { cut: { afterChunk: 2 } }],
  ['an error in the stream', { errorEvent: { afterChunk: 2 } }],
  ['a wrong type', { contentType: 'text/html' }],
  ['no usage', { missingUsage: true }],
  ['too much usage', { usageFactor: 1000 }],
]

describe('no answer shows the provider', () => {
  for (const [what, fault] of faults) {
    for (const stream of [false, true]) {
      // spec: 1/s11, 9/s3
      test(`${what}${stream ? ', streamed' : ''}`, async ({ stack }) => {
        const tenant: TenantFixture = await stack.tenant(10_000_000n)
        const prompt = `Leak ${tenant.project.id}`
        if (fault) await stack.provider.control.setFaults([{ ...fault, prompt }])
        const answer = await chat(stack, tenant, { body: { stream, messages: [{ role: 'user', content: prompt }] } })
        expectNoTrace(stack, await everyByte(answer))
        await stack.provider.control.clearFaults()
        await stack.untilNothingIsReserved(tenant.project.id, 5_000)
        expect(await stack.findings([tenant.project.id])).toEqual([])
      })
    }
  }
})

describe('no answer about an execution shows the provider', () => {
  for (const [what, fault] of faults)
    test(what, async ({ stack }) => {
      const tenant: TenantFixture = await stack.tenant(10_000_000n)
      const { fixture, provider, gateways } = stack
      const canvas = await fixture.publishProduct({ kind: 'image', requestPico: 1_000_000n })
      await fixture.assign(tenant.project.id, canvas)
      const text = (await fixture.sandbox(tenant.project, paidFlow(tenant.model, 1), { mcpEnabled: true })).id
      const picture = (await fixture.sandbox(tenant.project, flows.picture(canvas), { mcpEnabled: true })).id
      const { secret: token } = await fixture.token(tenant.owner)
      const prompt = `Leak ${tenant.project.id}`
      if (fault) await provider.control.setFaults([{ ...fault, prompt }])

      const ask = (path: string, body: object | null, accept: string, secret = tenant.key.secret) =>
        fetch(gateways[0]!.url + path, {
          method: body === null ? 'GET' : 'POST',
          headers: { authorization: `Bearer ${secret}`, accept, 'idempotency-key': randomUUID() },
          ...(body !== null && { body: JSON.stringify(body) }),
        })
      const callOfTool = (input: object, meta: object = {}) => ({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'invoke_product', arguments: input, _meta: meta },
      })
      const invoke = `/v1/sandbox/${text}/invoke`
      const organization = `/api/v2/tenants/${tenant.project.tenant}`
      const [json, ndjson, rpc] = ['application/json', 'application/x-ndjson', 'application/json, text/event-stream']
      const input = { text: prompt }

      const invoked = await ask(invoke, { input }, json)
      const execution = invoked.headers.get('x-service-invocation')!
      const drawn = await ask(`/v1/sandbox/${picture}/invoke`, { input: { prompt } }, '*/*')
      const isImage = drawn.headers.get('content-type')!.startsWith('image/')
      const answers: Response[] = [
        invoked,
        await ask(invoke, { input }, ndjson),
        isImage ? new Response(null, drawn) : drawn,
        await ask(`/v1/executions/${execution}`, null, json),
        await ask(`/v1/sandbox/${text}/mcp`, callOfTool(input), rpc),
        await ask(`/v1/sandbox/${text}/mcp`, callOfTool(input, { progressToken: 'p' }), rpc),
        await chat(stack, { ...tenant, model: text }, { body: { messages: [{ role: 'user', content: prompt }] } }),
        await ask(`${organization}/sandboxes/${text}/execute`, { input }, json, token),
        await ask(`${organization}/sandboxes/${text}/execute`, { input }, ndjson, token),
        await ask(`${organization}/sandboxes/${text}/executions`, null, json, token),
        await ask(`${organization}/projects/${tenant.project.id}/invocations`, null, json, token),
      ]
      for (const answer of answers) expectNoTrace(stack, await everyByte(answer))
      await provider.control.clearFaults()
      // Its circuit may have opened; whoever comes next finds it closed.
      await expect.poll(async () => (await chat(stack, tenant)).status, { timeout: 20_000 }).toBe(200)
      await stack.untilNothingIsReserved(tenant.project.id, 5_000)
      expect(await stack.findings([tenant.project.id])).toEqual([])
    })
})

describe('the model list', () => {
  // spec: 1/s5, 2.2/s2, 4.1/s6, 4.1/s8, 8.3/s4
  test('shows published, assigned chat products and nothing else', async ({ stack }) => {
    const { fixture } = stack
    const tenant = await stack.tenant(1_000n)
    const [draft, suspended, image, unassigned] = await Promise.all([
      fixture.publishProduct({ state: 'draft' }),
      fixture.publishProduct({ state: 'suspended' }),
      fixture.publishProduct({ kind: 'image', requestPico: 1_000_000n }),
      fixture.publishProduct(),
    ])
    await fixture.assign(tenant.project.id, draft, suspended, image)
    const perRequest = await fixture.publishProduct({ requestPico: 2_000_000_000n })
    await fixture.assign(tenant.project.id, perRequest)
    const answer = await fetch(`${stack.gateways[0]!.url}/v1/models`, {
      headers: { authorization: `Bearer ${tenant.key.secret}` },
    })
    const text = await everyByte(answer.clone())
    expectNoTrace(stack, text)
    for (const id of [draft, suspended, image, unassigned]) expect(text).not.toContain(id)
    const { object, data } = (await answer.json()) as { object: string; data: { id: string; pricing: unknown }[] }
    expect(object).toBe('list')
    expect(data.map(({ id }) => id).toSorted()).toEqual([tenant.model, perRequest].toSorted())
    expect(data.find(({ id }) => id === perRequest)!.pricing).toEqual({
      unit: 'request',
      request: '0.002',
      usd_per_request: 0.002,
    })
    for (const model of [draft, suspended, image, unassigned]) {
      const refused = await chat(stack, { ...tenant, model })
      expect([refused.status, ((await refused.json()) as { error: { code: string } }).error.code]).toEqual([
        404,
        'model_not_found',
      ])
    }
  })

  // spec: 4.1/s6, 4.2/s14, 5/s8, 7/r6
  test('of a listed key is its allowlist [key_scope]', async ({ stack }) => {
    const tenant = await stack.tenant(1_000_000n)
    const other = await stack.fixture.publishProduct()
    await stack.fixture.assign(tenant.project.id, other)
    const key = await stack.fixture.key({
      project: tenant.project,
      by: tenant.owner,
      policy: 'listed',
      resources: [other],
    })
    const answer = await fetch(`${stack.gateways[0]!.url}/v1/models`, {
      headers: { authorization: `Bearer ${key.secret}` },
    })
    expect(((await answer.json()) as { data: { id: string }[] }).data.map(({ id }) => id)).toEqual([other])
    const refused = await chat(stack, { key, model: tenant.model })
    expect([refused.status, ((await refused.json()) as { error: { code: string } }).error.code]).toEqual([
      403,
      'key_scope',
    ])
  })

  test('of a project with nothing assigned is empty, and a good answer', async ({ stack }) => {
    const { fixture } = stack
    const owners = await fixture.tenant()
    const key = await fixture.key({ project: await fixture.project(owners), by: owners.owner })
    const answer = await fetch(`${stack.gateways[0]!.url}/v1/models`, {
      headers: { authorization: `Bearer ${key.secret}` },
    })
    expect([answer.status, await answer.json()]).toEqual([200, { object: 'list', data: [] }])
  })
})
