import { type Attributes, trace, TraceFlags, type Tracer } from '@opentelemetry/api'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { privateKey } from './fixtures/keys.ts'
import { admitted, nodeAdmission, settled, settlement } from './fixtures/items.ts'
import { startPeerLedger } from './fixtures/peer-ledger.ts'
import { attributesOf } from './span-attributes.ts'

// A tracer keeps the collector that it found first: each test has modules without one, and the next file too.
beforeEach(() => {
  vi.resetModules()
  return () => {
    trace.disable()
    vi.resetModules()
  }
})

async function open() {
  const { openLedgerClient } = await import('./ledger-client.ts')
  const peer = await startPeerLedger()
  const client = openLedgerClient({ url: peer.url, service: 'worker', privateKey, closeGraceMs: 0 })
  onTestFinished(async () => {
    await client.close()
    await peer.stop()
  })
  return { peer, client }
}

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

const names: string[] = []
const attributes: Attributes[] = []

/** Makes every later span this one, and records their names and attributes. */
function collectSpans(): void {
  names.length = 0
  attributes.length = 0
  const [, traceId, spanId] = traceparent.split('-')
  const span = trace.wrapSpanContext({ traceId: traceId!, spanId: spanId!, traceFlags: TraceFlags.SAMPLED })
  span.setAttributes = (some) => (attributes.push(some), span)
  const startActiveSpan = ((name: string, ...rest: unknown[]) => {
    names.push(name)
    return (rest.at(-1) as (it: typeof span) => unknown)(span)
  }) as Tracer['startActiveSpan']
  trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan: () => span, startActiveSpan }) })
}

async function settleAndAdmit(): Promise<(string | undefined)[]> {
  const { peer, client } = await open()
  const both = [client.settle(settlement('inv_1')), client.admitNode(nodeAdmission('inv_2'), { budgetMs: 60_000 })]
  const request = await peer.next()
  request.end({ n: 0, outcome: settled }, { n: 1, outcome: admitted('inv_2') })
  await Promise.all(both)
  return request.lines.map((line) => line.trace)
}

test('an item has a span, named in its line, only if there is a collector', async () => {
  expect(await settleAndAdmit()).toEqual([undefined, undefined])
  collectSpans()
  expect(await settleAndAdmit()).toEqual([traceparent, traceparent])
  expect(names).toEqual(['ledger settle', 'ledger admit-node'])
})

test('an operation has a span only if its row names one', async () => {
  collectSpans()
  const { peer, client } = await open()
  const recorded = client.recordAsset({
    id: 'ast_1',
    caller: { project: 'prj_1', execution: 'exe_1' },
    mimeType: 'image/png',
    bytes: 1,
  })
  ;(await peer.next()).reply(200, { recorded: true, project: 'prj_1' })
  await recorded
  const read = client.wallet({ project: 'prj_1' })
  ;(await peer.next()).reply(200, {})
  await read
  expect(names).toEqual(['ledger record-asset'])
})

test('an operation traces the ID of its request only, and not what its caller named', async () => {
  collectSpans()
  const { peer, client } = await open()
  const started = client.startExecution({
    id: 'exe_1',
    caller: { keyHash: 'a'.repeat(64), selector: null },
    sandbox: 'a pasted key',
    revision: null,
    surface: 'invoke',
    input: {},
    idempotency: null,
    maxMicro: null,
    trace: null,
  })
  ;(await peer.next()).reply(200, { refused: { code: 'sandbox_not_found', facts: {} } })
  await started.catch(() => {})
  expect(attributes).toEqual([{ 'service.execution': 'exe_1' }, { 'service.refusal': 'sandbox_not_found' }])
})

test('attributes are IDs and amounts, never a lease, a key or user text', () => {
  const item = { ...nodeAdmission('inv_1'), keyHash: 'abc', answer: { body: 'text' } }
  expect(Object.keys(attributesOf(item)).toSorted()).toEqual(['service.execution', 'service.node'])
  expect(attributesOf({ refused: { code: 'key_scope', facts: {} } })).toEqual({ 'service.refusal': 'key_scope' })
})
