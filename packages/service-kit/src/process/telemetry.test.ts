import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { context, metrics, propagation, trace } from '@opentelemetry/api'
import { expect, test, vi } from 'vitest'
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

test('a gauge whose source has nothing or fails is absent, and the failures are logged once', async ({
  onTestFinished,
}) => {
  const lines: unknown[][] = []
  const log = { warn: (...line: unknown[]) => void lines.push(line) }
  const telemetry = await startTelemetry({ service: 'gauges', otlpEndpoint: undefined, log })
  onTestFinished(telemetry.stop)
  let source: 'there' | 'empty' | 'failed' = 'there'
  telemetry.meter.createObservableGauge('depth').addCallback((gauge) => {
    if (source === 'failed') throw new Error('the source is away')
    if (source === 'there') gauge.observe(5)
  })
  telemetry.meter.createGauge('findings').record(3)
  const depth = async () => /^depth\S* (\d+)$/m.exec(await telemetry.metricsText())?.[1]
  expect(await depth()).toBe('5')
  source = 'empty'
  expect(await depth()).toBeUndefined()
  source = 'there'
  expect(await depth()).toBe('5')
  source = 'failed'
  expect(await depth()).toBeUndefined()
  expect(await telemetry.metricsText()).toMatch(/^findings\S* 3$/m)
  expect(lines).toEqual([[{ err: new Error('the source is away'), failed: 1 }, 'some metrics could not be read']])
})

test('metrics that are read twice at once have every gauge in both texts', async ({ onTestFinished }) => {
  const telemetry = await startTelemetry({ service: 'twice', otlpEndpoint: undefined })
  onTestFinished(telemetry.stop)
  const source = Promise.withResolvers<void>()
  telemetry.meter.createObservableGauge('near').addCallback((gauge) => gauge.observe(1))
  telemetry.meter.createObservableGauge('far').addCallback(async (gauge) => {
    await source.promise
    gauge.observe(2)
  })
  const texts = Promise.all([telemetry.metricsText(), telemetry.metricsText()])
  source.resolve()
  for (const text of await texts) {
    expect(text).toMatch(/^near\S* 1$/m)
    expect(text).toMatch(/^far\S* 2$/m)
  }
  expect(await telemetry.metricsText()).toMatch(/^near\S* 1$/m)
})

test('a gauge whose source has nothing is not pushed to a collector', async ({ onTestFinished }) => {
  const pushes: string[] = []
  const collector = createServer((req, res) => {
    void buffer(req).then((body) => {
      if (req.url === '/v1/metrics') pushes.push(body.toString('latin1'))
      res.writeHead(200, { 'Content-Type': 'application/x-protobuf' }).end()
    })
  }).listen(0, '127.0.0.1')
  await once(collector, 'listening')
  const url = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', url)
  const telemetry = await startTelemetry({ service: 'pushed', otlpEndpoint: url })
  onTestFinished(async () => {
    await telemetry.stop()
    for (const api of [trace, metrics, propagation, context]) api.disable() // other test files run in this process
    vi.unstubAllEnvs()
    collector.close()
  })
  let isThere = true
  telemetry.meter.createObservableGauge('depth').addCallback((gauge) => {
    if (isThere) gauge.observe(5)
  })
  telemetry.meter.createCounter('calls').add(1)
  const push = async () => {
    await (metrics.getMeterProvider() as unknown as { forceFlush(): Promise<void> }).forceFlush()
    return ['depth', 'calls'].filter((name) => pushes.at(-1)?.includes(name))
  }
  expect(await push()).toEqual(['depth', 'calls'])
  isThere = false
  expect(await push()).toEqual(['calls'])
})
