import { expect } from 'vitest'
import { bodyOf, errorOf, newPrompt, stackTest } from '../stack.fixture.ts'

// The provider has two connections: a lone project gets one of them. One call of it may wait for the other; the next one
// is refused.

const test = stackTest
  .extend('counts', { scope: 'file' }, () => ({
    providerSettings: { connections: 2, maxWaiting: 2, waitMs: 300_000 },
  }))
  .extend('held', async ({ stack, tenant }, { onCleanup }) => {
    const content = newPrompt()
    await stack.provider.control.setFaults([{ prompt: content, hold: true }])
    onCleanup(async () => void (await stack.provider.control.release()))
    const messages = [{ role: 'user', content }]
    const call = tenant.chat({ messages })
    await stack.provider.control.waitForCalls(1, { prompt: content })
    return { call, messages, content }
  })

async function metric(metricsUrl: string, name: string): Promise<string | undefined> {
  const metrics = await (await fetch(`${metricsUrl}/metrics`)).text()
  return new RegExp(`^${name}\\{provider="simulated"[^}]*\\} (\\d+)`, 'm').exec(metrics)?.[1]
}

/** Waits until this many calls wait for a connection. */
async function waitForWaiting(metricsUrl: string, count: number): Promise<void> {
  await expect.poll(() => metric(metricsUrl, 'gateway_provider_calls_waiting')).toBe(String(count))
}

test('a call that gets no connection is refused, uncharged, while another project is served [overloaded]', async ({
  stack,
  tenant,
  held,
  fixture,
}) => {
  const waiting = tenant.chat({ messages: held.messages })
  await waitForWaiting(tenant.metricsUrl, 1)
  const { reserved } = await tenant.wallet()
  const refused = await tenant.chat({ messages: held.messages })
  expect(refused.status).toBe(503)
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
  expect(await errorOf(refused)).toMatchObject({ code: 'overloaded' })
  expect(await tenant.wallet()).toEqual({ reserved, settled: 0 })
  expect(await metric(tenant.metricsUrl, 'gateway_provider_waits_refused_total')).toBe('1')
  expect(await metric(tenant.metricsUrl, 'gateway_provider_connections_used')).toBe('1')
  const { rows } = await fixture.run('SELECT state, reason FROM money.attempts WHERE id = $1', [
    refused.headers.get('x-service-invocation'),
  ])
  expect(rows).toEqual([{ state: 'Released', reason: 'it was not sent' }])

  const project = await fixture.project(tenant.owners, 1_000_000n)
  await fixture.assign(project.id, tenant.model)
  const { secret } = await fixture.key({ project, by: tenant.owners.owner })
  for (let n = 0; n < 5; n++)
    expect((await tenant.chat({}, { headers: { authorization: `Bearer ${secret}` } })).status).toBe(200)
  expect(await stack.provider.control.countCalls({ prompt: held.content })).toBe(1)

  await stack.provider.control.clearFaults()
  await stack.provider.control.release()
  for (const call of [held.call, waiting]) expect((await call).status).toBe(200)
})

test.for([false, true])(
  'a caller that disconnects while its call waits for a connection is not charged (streamed: %s)',
  async (stream, { stack, tenant, held }) => {
    const { reserved } = await tenant.wallet()
    const content = newPrompt()
    const leaving = new AbortController()
    const messages = [{ role: 'user', content }]
    const left = tenant.chat({ stream, messages }, { signal: leaving.signal }).catch((error: Error) => error.name)
    await waitForWaiting(tenant.metricsUrl, 1)
    leaving.abort()
    expect(await left).toBe('AbortError')
    await waitForWaiting(tenant.metricsUrl, 0)
    await expect.poll(() => tenant.wallet()).toEqual({ reserved, settled: 0 })
    await stack.provider.control.release()
    const { usage } = await bodyOf(await held.call)
    expect(await tenant.wallet()).toEqual({ reserved: 0, settled: usage.cost_micro })
    expect(await stack.provider.control.countCalls({ prompt: content })).toBe(0)
  },
)

test('a repeat under the same idempotency key takes over if the first caller disconnects while waiting', async ({
  stack,
  tenant,
  held,
}) => {
  const content = newPrompt()
  const headers = { 'idempotency-key': content }
  const messages = [{ role: 'user', content }]
  const leaving = new AbortController()
  const left = tenant.chat({ messages }, { headers, signal: leaving.signal }).catch((error: Error) => error.name)
  await waitForWaiting(tenant.metricsUrl, 1)
  const repeat = tenant.chat({ messages }, { headers })
  leaving.abort()
  expect(await left).toBe('AbortError')
  await stack.provider.control.release()
  const answers = [await bodyOf(await held.call), await bodyOf(await repeat)]
  expect(await tenant.wallet()).toEqual({
    reserved: 0,
    settled: answers.reduce((sum, { usage }) => sum + usage.cost_micro, 0),
  })
  expect(await stack.provider.control.countCalls({ prompt: content })).toBe(1)
})
