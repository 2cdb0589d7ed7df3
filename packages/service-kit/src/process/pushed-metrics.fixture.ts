import { metrics } from '@opentelemetry/api'
import { startTelemetry } from './telemetry.ts'

// Runs in a thread: a tracer keeps the collector that it found first, and test files share a process.

const telemetry = await startTelemetry({ service: 'pushed', otlpEndpoint: process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] })
let isThere = true
telemetry.meter.createObservableGauge('depth').addCallback((gauge) => {
  if (isThere) gauge.observe(5)
})
telemetry.meter.createCounter('calls').add(1)
for (isThere of [true, false])
  await (metrics.getMeterProvider() as unknown as { forceFlush(): Promise<void> }).forceFlush()
await telemetry.stop()
