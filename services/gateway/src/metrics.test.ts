import { startTelemetry } from '@gateway/service-kit/process/telemetry'
import { expect, test } from 'vitest'
import { openMetrics } from './metrics.ts'

const NOTHING = {
  calls: () => 0,
  imageBytes: () => 0,
  embeddingBytes: () => 0,
  followers: () => 0,
  consoleRequests: () => ({}),
}

test('records prompt counting by outcome, counted or busy', async ({ onTestFinished }) => {
  const telemetry = await startTelemetry({ service: 'gateway', otlpEndpoint: undefined })
  onTestFinished(telemetry.stop)
  const metrics = openMetrics(telemetry.meter, NOTHING)
  metrics.promptCounted('counted', 250)
  metrics.promptCounted('busy', 10_000)
  const text = await telemetry.metricsText()
  expect(text).toMatch(/^gateway_prompts_counting_duration_sum\{[^}]*outcome="counted"[^}]*\} 0.25$/m)
  expect(text).toMatch(/^gateway_prompts_counting_duration_count\{[^}]*outcome="busy"[^}]*\} 1$/m)
})

test('counts providers with an open circuit breaker without naming them', async ({ onTestFinished }) => {
  const telemetry = await startTelemetry({ service: 'gateway', otlpEndpoint: undefined })
  onTestFinished(telemetry.stop)
  const metrics = openMetrics(telemetry.meter, NOTHING)
  const resting = async () => /^gateway_provider_circuits_open\S* (\d+)/m.exec(await telemetry.metricsText())?.[1]

  metrics.circuitChanged({ provider: 'main', state: 'open' })
  metrics.circuitChanged({ provider: 'spare', state: 'open' })
  metrics.circuitChanged({ provider: 'main', state: 'half-open' })
  expect(await resting()).toBe('2')
  metrics.circuitChanged({ provider: 'main', state: 'closed' })
  expect(await resting()).toBe('1')
  expect(await telemetry.metricsText()).toMatch(/^gateway_provider_circuit_changes_total\{state="open"[^}]*\} 2/m)
  expect(await telemetry.metricsText()).not.toMatch(/main|spare/)
})
