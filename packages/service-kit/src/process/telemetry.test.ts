import { expect, test } from 'vitest'
import { startTelemetry } from './telemetry.ts'

test('services in one process have separate metrics, both concurrently and in sequence', async () => {
  const first = await startTelemetry({ service: 'first', otlpEndpoint: undefined })
  const second = await startTelemetry({ service: 'second', otlpEndpoint: undefined })
  first.meter.createCounter('calls').add(2)
  second.meter.createCounter('calls').add(3)
  expect(await first.metricsText()).toMatch(/^calls_total\S* 2$/m)
  expect(await second.metricsText()).toMatch(/^calls_total\S* 3$/m)
  await Promise.all([first.stop(), second.stop()])
  const third = await startTelemetry({ service: 'third', otlpEndpoint: undefined })
  third.meter.createCounter('calls').add(4)
  expect(await third.metricsText()).toMatch(/^calls_total\S* 4$/m)
  await third.stop()
})
