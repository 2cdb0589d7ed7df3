import { expect, test } from 'vitest'
import { openProviderMetrics } from './provider-metrics.ts'
import { startTelemetry } from './telemetry.ts'

test.each(['gateway', 'worker'])('counts open circuit breakers by provider: %s', async (service) => {
  const telemetry = await startTelemetry({ service, otlpEndpoint: undefined })
  const metrics = openProviderMetrics(telemetry.meter, service)
  const states = { main: 'open', spare: 'half-open', idle: 'closed' }
  metrics.watchCircuits(() => Object.entries(states).map(([provider, state]) => ({ provider, state })))
  metrics.circuitChanged({ provider: 'main', state: 'open' })
  metrics.circuitChanged({ provider: 'spare', state: 'half-open' })

  const read = async (name: string) =>
    [...(await telemetry.metricsText()).matchAll(new RegExp(`^${service}_${name}\\{(.*?)(?:,otel.*)?\\} (\\d+)`, 'gm'))]
      .map(([, labels, value]) => `${labels} ${value}`)
      .toSorted()
  expect(await read('provider_circuits_open')).toEqual(['provider="idle" 0', 'provider="main" 1', 'provider="spare" 1'])
  states.main = 'closed'
  expect(await read('provider_circuits_open')).toEqual(['provider="idle" 0', 'provider="main" 0', 'provider="spare" 1'])
  expect(await read('provider_circuit_changes_total')).toEqual([
    'provider="main",state="open" 1',
    'provider="spare",state="half-open" 1',
  ])
  await telemetry.stop()
})
