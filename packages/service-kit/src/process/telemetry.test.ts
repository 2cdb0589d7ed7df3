import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { Worker } from 'node:worker_threads'
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
  const pushes: string[][] = []
  const collector = createServer((req, res) => {
    void buffer(req).then((body) => {
      if (req.url === '/v1/metrics') pushes.push(['depth', 'calls'].filter((name) => body.includes(name)))
      res.writeHead(200, { 'Content-Type': 'application/x-protobuf' }).end()
    })
  }).listen(0, '127.0.0.1')
  await once(collector, 'listening')
  const thread = new Worker(new URL('./pushed-metrics.fixture.ts', import.meta.url), {
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}` },
  })
  onTestFinished(async () => {
    await thread.terminate()
    collector.close()
  })
  await once(thread, 'exit')
  expect(pushes.slice(0, 2)).toEqual([['depth', 'calls'], ['calls']])
})
