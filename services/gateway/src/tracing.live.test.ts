import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { idOfRequest } from '@gateway/api/ids'
import { describe, expect } from 'vitest'
import { newPrompt, openCalls, stackTest } from './stack.fixture.ts'

interface Span {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  attributes: { key: string; value: { stringValue?: string; intValue?: number } }[]
  status: { code?: number }
}
interface Export {
  resourceSpans: { scopeSpans: { spans: Span[] }[] }[]
}

const CHAT = 'POST /v1/chat/completions'

// An OTLP collector that makes each span available to the test as it arrives.
const test = stackTest
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
    /** Returns the spans of a trace once its call has ended. */
    async function trace(isOfIt: (span: Span) => boolean): Promise<Span[]> {
      for (;;) {
        const root = spans.find((span) => span.name === CHAT && isOfIt(span))
        if (root) return spans.filter(({ traceId }) => traceId === root.traceId)
        await once(server, 'spans')
      }
    }
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, trace }
  })
  // The SDK is a singleton per process.
  .extend('counts', { scope: 'file' }, () => ({ workers: 0, consoles: 0, processes: ['gateway-0'] as const }))
  .extend('settings', { scope: 'file' }, ({ collector }) => ({
    gateway: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '10',
    },
  }))

test('a call continues the trace of its caller, and its stages are child spans of the call', async ({
  tenant,
  collector,
}) => {
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
  await tenant.chat({}, { headers: { traceparent: `00-${traceId}-00f067aa0ba902b7-01` } })
  const spans = await collector.trace((span) => span.traceId === traceId)
  const chat = spans.find(({ name }) => name === CHAT)!
  expect(chat.parentSpanId).toBe('00f067aa0ba902b7')
  for (const stage of ['admit', 'call'])
    expect(spans.find(({ name }) => name === stage)?.parentSpanId).toBe(chat.spanId)
})

test('a call is recorded in the trace of its caller, whether or not the caller records it', async ({
  tenant,
  collector,
}) => {
  const traceId = randomBytes(16).toString('hex')
  await tenant.chat({}, { headers: { traceparent: `00-${traceId}-00f067aa0ba902b7-00` } })
  const spans = await collector.trace((span) => span.traceId === traceId)
  expect(spans.find(({ name }) => name === CHAT)?.parentSpanId).toBe('00f067aa0ba902b7')
  expect(spans.map(({ name }) => name)).toContain('admit')
})

test('a call with no traceparent, or a malformed one, starts a new trace', async ({ tenant, collector }) => {
  const seen = new Set<string>()
  for (const headers of [{}, { traceparent: '00-zz-01' }]) {
    await tenant.chat({}, { headers })
    const [first] = await collector.trace(({ parentSpanId, traceId }) => !parentSpanId && !seen.has(traceId))
    seen.add(first!.traceId)
  }
  expect(seen.size).toBe(2)
})

/** Reads the request lines of a log, whose last ones are written soon after their answers. */
function requestLines(logFile: string) {
  const lines = () =>
    readFileSync(logFile, 'utf8')
      .split('\n')
      .filter((line) => line.includes('"message":"request"'))
      .map((line) => JSON.parse(line) as Record<string, unknown>)
  const lineOf = async (answer: Response) => {
    const requestId = answer.headers.get('x-request-id')
    await expect.poll(() => lines().filter((line) => line['requestId'] === requestId)).toHaveLength(1)
    return lines().find((line) => line['requestId'] === requestId)!
  }
  return { lines, lineOf }
}

test('each request writes one log line with its request, invocation and trace IDs [key_invalid] [model_not_found]', async ({
  tenant,
  stack,
}) => {
  const { lines, lineOf } = requestLines(stack.gateways[0]!.logFile)
  const traceId = 'a'.repeat(32)
  const prompt = newPrompt()
  const messages = [{ role: 'user', content: prompt }]
  const called = await tenant.chat({ messages }, { headers: { traceparent: `00-${traceId}-${'b'.repeat(16)}-01` } })
  const invocation = called.headers.get('x-service-invocation')
  expect(invocation).toBe(idOfRequest('inv', called.headers.get('x-request-id')!))
  const chat = { method: 'POST', route: '/v1/chat/completions' }
  expect(await lineOf(called)).toMatchObject({ ...chat, invocation, status: 200, traceId })
  const anonymous = await tenant.chat({}, { headers: { authorization: `Bearer ${'x'.repeat(40)}` } })
  expect(await lineOf(anonymous)).toMatchObject({ ...chat, status: 401 })
  expect(await lineOf(await tenant.chat({ model: 'acme/none' }))).toMatchObject({ ...chat, status: 404 })
  const probe = await fetch(`${tenant.url}/health/live`)
  await lineOf(await fetch(`${tenant.url}/v1/nothing`))
  expect(lines().some((line) => line['requestId'] === probe.headers.get('x-request-id'))).toBe(false)
  const log = readFileSync(stack.gateways[0]!.logFile, 'utf8')
  for (const secret of [prompt, tenant.secret, 'x'.repeat(40)]) expect(log).not.toContain(secret)
})

test('a refused or failed call has its code and trace ID in its log line, and its request ID in its trace [insufficient_budget] [provider_failed]', async ({
  tenant,
  stack,
  collector,
}) => {
  const { lineOf } = requestLines(stack.gateways[0]!.logFile)
  const prompt = newPrompt()
  await stack.provider.control.setFaults([{ prompt, status: 500 }])
  const messages = [{ role: 'user', content: prompt }]
  const costly = await tenant.sell({ requestPico: 2_000_000_000_000n })
  for (const [traceId, fields, status, code] of [
    ['c'.repeat(32), { model: costly }, 402, 'insufficient_budget'],
    ['d'.repeat(32), { messages }, 502, 'provider_failed'],
  ] as const) {
    const answer = await tenant.chat(fields, { headers: { traceparent: `00-${traceId}-${'b'.repeat(16)}-01` } })
    expect(await lineOf(answer)).toMatchObject({ status, code, traceId })
    const spans = await collector.trace((span) => span.traceId === traceId)
    expect(spans.find(({ name }) => name === CHAT)!.attributes).toContainEqual({
      key: 'service.request',
      value: { stringValue: answer.headers.get('x-request-id') },
    })
  }
})

describe('the root span of a call', () => {
  // OTLP: 0 is unset, 2 is an error.
  test.for<[title: string, fault: object, stream: boolean, seen: unknown[]]>([
    ['has the status of its answer', {}, false, [undefined, 200, 0]],
    ['is not marked as failed if its provider answers 400', { status: 400 }, false, ['invalid_request', 400, 0]],
    ['is marked with the code of a failed provider', { status: 500 }, false, ['provider_failed', 502, 2]],
    [
      'is marked as failed if its stream is cut',
      { cut: { afterChunk: 4 }, text: 'one two three four five' },
      true,
      ['provider_failed', 200, 2],
    ],
    [
      'is marked as failed if the call fails after its headers',
      { hold: true, status: 500 },
      true,
      ['provider_failed', 200, 2],
    ],
  ])('%s', async ([, fault, stream, seen], { tenant, stack, collector }) => {
    const [prompt, traceId] = [newPrompt(), randomBytes(16).toString('hex')]
    await stack.provider.control.setFaults([{ prompt, ...fault }])
    const fields = { stream, messages: [{ role: 'user', content: prompt }] }
    const answer = await tenant.chat(fields, { headers: { traceparent: `00-${traceId}-${'b'.repeat(16)}-01` } })
    await stack.provider.control.release()
    await answer.text()
    expect(endOf(await collector.trace((span) => span.traceId === traceId))).toEqual(seen)
  })

  test('is not marked as failed if its caller disconnects', async ({ tenant, collector }) => {
    const traceId = randomBytes(16).toString('hex')
    const headers = { ...tenant.headers, traceparent: `00-${traceId}-${'b'.repeat(16)}-01`, 'content-length': '100' }
    const call = request(`${tenant.url}/v1/chat/completions`, { method: 'POST', headers }).on('error', () => {})
    call.write('{')
    await expect.poll(() => openCalls(tenant.metricsUrl)).toBe(1)
    call.destroy()
    expect(endOf(await collector.trace((span) => span.traceId === traceId))).toEqual([undefined, undefined, 0])
  })

  function endOf(spans: Span[]): unknown[] {
    const { attributes, status } = spans.find(({ name }) => name === CHAT)!
    const valueOf = (name: string) => attributes.find(({ key }) => key === name)?.value
    const [type, code] = [valueOf('error.type'), valueOf('http.response.status_code')]
    return [type?.stringValue, code?.intValue, status.code]
  }
})

test('a failed attempt at a provider is logged with its invocation and product', async ({ tenant, stack }) => {
  const model = await tenant.sell()
  const prompt = newPrompt()
  await stack.provider.control.setFaults([{ prompt, status: 400 }])
  const answer = await tenant.chat({ model, messages: [{ role: 'user', content: prompt }] })
  const invocation = answer.headers.get('x-service-invocation')!
  const line = () =>
    readFileSync(stack.gateways[0]!.logFile, 'utf8')
      .split('\n')
      .find((each) => each.includes('provider attempt failed') && each.includes(invocation))
  await expect.poll(line).toBeDefined()
  expect(JSON.parse(line()!)).toMatchObject({ invocation, product: model })
})
