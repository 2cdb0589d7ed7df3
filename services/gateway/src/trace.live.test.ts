import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { expect } from 'vitest'
import { houseTest } from './house.fixture.ts'

interface Span {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
}
interface Export {
  resourceSpans: { scopeSpans: { spans: Span[] }[] }[]
}

const CHAT = 'POST /v1/chat/completions'

// A collector as OpenTelemetry describes it, that hands on each span as it comes.
const test = houseTest
  // oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern what a fixture needs
  .extend('collector', { scope: 'file' }, async ({}, { onCleanup }) => {
    const spans: Span[] = []
    const server = createServer((req, res) => {
      const read = req.url === '/v1/traces' ? json(req) : Promise.resolve(null)
      void read.then((body) => {
        for (const { scopeSpans } of (body as Export | null)?.resourceSpans ?? [])
          spans.push(...scopeSpans.flatMap((scope) => scope.spans))
        res.setHeader('Content-Type', 'application/json').end('{}')
        if (body) server.emit('spans')
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onCleanup(() => server.close().closeAllConnections())
    /** The spans of a trace once its call has ended. */
    async function trace(isOfIt: (span: Span) => boolean): Promise<Span[]> {
      for (;;) {
        const root = spans.find((span) => span.name === CHAT && isOfIt(span))
        if (root) return spans.filter(({ traceId }) => traceId === root.traceId)
        await once(server, 'spans')
      }
    }
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, trace }
  })
  .override('environment', ({ collector }) => ({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_BSP_SCHEDULE_DELAY: '10',
  }))

test('a call is a part of the trace that its caller names, and its stages are parts of the call', async ({
  shop,
  collector,
}) => {
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
  await shop.chat({}, { headers: { traceparent: `00-${traceId}-00f067aa0ba902b7-01` } })
  const spans = await collector.trace((span) => span.traceId === traceId)
  const chat = spans.find(({ name }) => name === CHAT)!
  expect(chat.parentSpanId).toBe('00f067aa0ba902b7')
  for (const stage of ['admit', 'call'])
    expect(spans.find(({ name }) => name === stage)?.parentSpanId).toBe(chat.spanId)
})

test('a call of nobody’s trace, or of one that can’t be read, begins its own', async ({ shop, collector }) => {
  const seen = new Set<string>()
  for (const headers of [{}, { traceparent: '00-zz-01' }]) {
    await shop.chat({}, { headers })
    const [first] = await collector.trace(({ parentSpanId, traceId }) => !parentSpanId && !seen.has(traceId))
    seen.add(first!.traceId)
  }
  expect(seen.size).toBe(2)
})
