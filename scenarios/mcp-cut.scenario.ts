import { randomUUID } from 'node:crypto'
import { processOf } from '@gateway/testbed/test-program'
import { expect } from 'vitest'
import type { ToolResult } from './src/mcp/clients/mcp-client.ts'
import { sdkOne } from './src/mcp/clients/sdk-one.ts'
import { sdkTwo } from './src/mcp/clients/sdk-two.ts'
import { cutCall, wireCall, type Cut } from './src/mcp/cut-call.ts'
import type { McpTenant } from './src/mcp/mcp-tenant.ts'
import { mcpTest as test } from './src/mcp/mcp-test.ts'

// A call whose connection is cut at many points, and repeated under its idempotency key on other replicas by other clients, is one
// execution with one charge and one result.

const clients = [sdkTwo({ pin: '2026-07-28' }), sdkTwo('legacy'), sdkOne]

/** Cut points at regular byte intervals of the request and of the response: headers, each progress line, the result. */
function pointsOf(sentBytes: number, answeredBytes: number): Cut[] {
  const steps = (most: number, count: number) =>
    Array.from({ length: count }, (_, n) => Math.round((most * (n + 1)) / count))
  return [
    ...steps(sentBytes, 8).map((sent) => ({ sent })),
    { answered: 0 },
    { answered: 1 },
    ...steps(answeredBytes, 30).map((answered) => ({ answered })),
  ]
}

// spec: 4.4/s6
test('a call cut at any point is one execution and one charge, regardless of repeats on any replica', async ({
  stack,
  tenant,
}) => {
  const sandbox = await tenant.chain()
  const call = (prompt: string, idempotencyKey: string) =>
    wireCall({ url: tenant.at(sandbox), key: tenant.key.secret, idempotencyKey, input: { prompt } })
  const whole = call(randomUUID(), randomUUID())
  const answeredBytes = await cutCall(tenant.at(sandbox), whole, { answered: Infinity })
  const points = pointsOf(whole.length, answeredBytes)

  const settledBefore = await tenant.settled()
  let charged = 0
  for (const [n, cut] of points.entries()) {
    const [prompt, idempotencyKey] = [randomUUID(), randomUUID()]
    await cutCall(tenant.at(sandbox, n % 3), call(prompt, idempotencyKey), cut)

    const results: ToolResult[] = []
    for (const [at, client] of clients.entries()) {
      const endpoint = { url: tenant.at(sandbox, (n + 1 + at) % 3), key: tenant.key.secret }
      results.push(await client.call(endpoint, { prompt }, { idempotencyKey }))
    }
    expect(results[0]!.isError).toBe(false)
    expect(results.slice(1)).toEqual([results[0], results[0]])
    expect(await stack.provider.control.countCalls({ prompt })).toBe(2) // the second node's prompt quotes the first's
    charged += (await tenant.invoke(sandbox, { prompt }, idempotencyKey)).chargedMicro
  }
  expect(await tenant.executions(sandbox)).toBe(1 + points.length)
  expect(await tenant.settled()).toBe(settledBefore + charged)
  expect(await stack.findings([tenant.project.id])).toEqual([])
  for (const { metricsUrl } of stack.gateways) await expect.poll(() => openCalls(metricsUrl)).toBe(0)
})

test('killing a gateway that waits for an execution loses nothing: another replica answers the repeat', async ({
  stack,
  tenant,
}) => {
  const sandbox = await tenant.chain()
  const [prompt, idempotencyKey] = [randomUUID(), randomUUID()]
  await stack.provider.control.setFaults([{ prompt, hold: true, times: 1 }])
  const url = tenant.at(sandbox, 2)
  const cut = cutCall(url, wireCall({ url, key: tenant.key.secret, idempotencyKey, input: { prompt } }), {
    answered: Infinity,
  })
  await stack.provider.control.waitForCalls(1, { prompt })
  await processOf(stack.gateways[2]).kill()
  await cut

  const repeating = repeat(tenant, sandbox, prompt, idempotencyKey)
  await stack.provider.control.release()
  const [first, second] = await repeating
  expect(first.isError).toBe(false)
  expect(second).toEqual(first)
  expect(await tenant.executions(sandbox)).toBe(1)
  expect(await stack.provider.control.countCalls({ prompt })).toBe(2)
  await stack.gateways[2]!.start()
})

/** Calls in progress, from the metrics of a gateway. */
async function openCalls(metricsUrl: string): Promise<number> {
  const metrics = await (await fetch(`${metricsUrl}/metrics`)).text()
  return Number(/^gateway_calls_open(?:\{[^}]*\})? (\d+)/m.exec(metrics)?.[1])
}

/** Repeats the call on both other replicas concurrently. */
function repeat(
  tenant: McpTenant,
  sandbox: string,
  prompt: string,
  idempotencyKey: string,
): Promise<[ToolResult, ToolResult]> {
  const on = (gateway: number) =>
    clients[gateway]!.call({ url: tenant.at(sandbox, gateway), key: tenant.key.secret }, { prompt }, { idempotencyKey })
  return Promise.all([on(0), on(1)])
}
