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
