import { randomUUID } from 'node:crypto'
import { describe, expect } from 'vitest'
import type { FaultRule } from '@gateway/simulated-provider/fault-rule'
import { flows } from './src/mcp/flows.ts'
import { paidFlow } from './src/paid-flows.ts'
import { chat, type Stack, type TenantFixture } from './src/stack.ts'
import { everyByte, tracesIn } from './src/provider-scan.ts'
import { liveStackTest as test } from './src/live-stack-test.ts'

// No response about an execution reveals the provider of a model or its price. fault-matrix.scenario.ts covers responses to chat
// calls.

function expectNoTrace({ provider }: Stack, text: string): void {
  const { host, port } = new URL(provider.url)
  expect(tracesIn(text, ['simulated', '"sim"', host])).toEqual([])
  // Match the whole number: an ID or a timestamp may contain the same digits by chance.
  expect(text, 'a response shows the port').not.toMatch(new RegExp(`\\b${port}\\b`))
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
    'a refusal by the provider',
    { status: 400, body: { error: { message: 'SimulatedProvider says no', type: 'invalid_request_error' } } },
  ],
  ['an invalid provider key', { status: 401, body: 'req_sim unauthorized' }],
  ['too many requests', { status: 429, retryAfter: 1 }],
  ['garbage', { garbage: 'before-first-byte' }],
  ['a cut connection', { cut: 'before-first-byte' }],
  ['a cut stream', { cut: { afterChunk: 2 } }],
  ['an error in the stream', { errorEvent: { afterChunk: 2 } }],
  ['a wrong content type', { contentType: 'text/html' }],
  ['no usage', { missingUsage: true }],
  ['excess usage', { usageFactor: 1000 }],
]

describe('provider secrecy of executions', () => {
  for (const [what, fault] of faults)
    test(`hides the provider from every response after ${what}`, async ({ stack }) => {
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
      // The circuit may be open: wait until it closes for the next test.
      await expect.poll(async () => (await chat(stack, tenant)).status, { timeout: 20_000 }).toBe(200)
      await stack.untilNothingIsReserved(tenant.project.id, 5_000)
      expect(await stack.findings([tenant.project.id])).toEqual([])
    })
})
