import { expect } from 'vitest'
import { errorOf, newPrompt, stackTest } from '../stack.fixture.ts'

// One failure opens the circuit breaker of the only provider, and the test ends before its first probe.
const test = stackTest.extend('counts', { scope: 'file' }, () => ({
  providerSettings: { circuitFailures: 1, circuitOpenMs: 300_000 },
}))

test('a refusal by an open circuit is counted apart from an unavailable part of the service [unavailable]', async ({
  stack,
  tenant,
}) => {
  const embedder = await tenant.sell({ kind: 'embedding', completionPico: 0n, maxOutputTokens: 1 })
  const embed = () =>
    fetch(`${tenant.url}/v1/embeddings`, {
      method: 'POST',
      body: JSON.stringify({ model: embedder, input: newPrompt() }),
      headers: tenant.headers,
    })
  await stack.provider.control.setFaults([{ status: 500, times: 1 }])
  expect(await errorOf(await tenant.chat())).toMatchObject({ code: 'provider_failed' })
  for (const refused of [await tenant.chat(), await embed()])
    expect(await errorOf(refused)).toMatchObject({ code: 'unavailable' })
  const metrics = await (await fetch(`${tenant.metricsUrl}/metrics`)).text()
  const counted = metrics.match(/^gateway_refusals_total\{.*code="unavailable".*$/gm)
  expect(counted).toEqual([expect.stringMatching(/cause="circuit".*\} 2\b/)])
})
