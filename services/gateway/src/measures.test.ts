import { startTelemetry } from '@gateway/process/telemetry'
import { expect, test } from 'vitest'
import { openMeasures } from './measures.ts'

test('origins at rest are counted, and their names are told to nobody', async ({ onTestFinished }) => {
  const telemetry = await startTelemetry({ service: 'gateway', otlpEndpoint: undefined })
  onTestFinished(telemetry.stop)
  const measures = openMeasures(telemetry.meter, () => 0)
  const resting = async () => /^gateway_origins_resting\S* (\d+)/m.exec(await telemetry.metricsText())?.[1]

  measures.circuitChanged({ origin: 'main', state: 'open' })
  measures.circuitChanged({ origin: 'spare', state: 'open' })
  measures.circuitChanged({ origin: 'main', state: 'half-open' })
  expect(await resting()).toBe('2')
  measures.circuitChanged({ origin: 'main', state: 'closed' })
  expect(await resting()).toBe('1')
  expect(await telemetry.metricsText()).toMatch(/^gateway_circuit_changes_total\{state="open"[^}]*\} 2/m)
  expect(await telemetry.metricsText()).not.toMatch(/main|spare/)
})
