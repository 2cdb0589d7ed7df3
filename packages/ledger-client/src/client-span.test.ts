import { trace, TraceFlags, type Tracer } from '@opentelemetry/api'
import { expect, onTestFinished, test } from 'vitest'
import { admitted, nodeAdmission, settled, settlement } from './fixtures/items.ts'
import { startPeerLedger } from './fixtures/peer-ledger.ts'
import { openLedgerClient } from './ledger-client.ts'
import { attributesOf } from './client-span.ts'

async function open(tracer: Tracer | null = null) {
  const peer = await startPeerLedger()
  const client = openLedgerClient({ url: peer.url, service: 'worker', secret: 's'.repeat(32), closeGraceMs: 0, tracer })
  onTestFinished(async () => {
    await client.close()
    await peer.stop()
  })
  return { peer, client }
}

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

/** A tracer whose spans are all this one. */
function tracerOf(names: string[]): Tracer {
  const [, traceId, spanId] = traceparent.split('-')
  const span = trace.wrapSpanContext({ traceId: traceId!, spanId: spanId!, traceFlags: TraceFlags.SAMPLED })
  const during = (name: string, _: object, work: (it: typeof span) => unknown) => {
    names.push(name)
    return work(span)
  }
  return { startSpan: () => span, startActiveSpan: during as Tracer['startActiveSpan'] }
}

test('an item has a span, and its line names it; without a tracer it names none', async () => {
  const names: string[] = []
  for (const tracer of [tracerOf(names), null]) {
    const { peer, client } = await open(tracer)
    const both = [client.settle(settlement('inv_1')), client.admitNode(nodeAdmission('inv_2'), { budgetMs: 60_000 })]
    const request = await peer.next()
    expect(request.lines.map((line) => [line.item.op, line.trace])).toEqual(
      ['settle', 'admit-node'].map((op) => [op, tracer === null ? undefined : traceparent]),
    )
    request.end({ n: 0, outcome: settled }, { n: 1, outcome: admitted('inv_2') })
    await Promise.all(both)
  }
  expect(names).toEqual(['ledger settle', 'ledger admit-node'])
})

test('an operation has a span where its row has one', async () => {
  const names: string[] = []
  const { peer, client } = await open(tracerOf(names))
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

test('attributes are ids and amounts; a lease, a key and whatever somebody wrote are none', () => {
  const item = { ...nodeAdmission('inv_1'), keyHash: 'abc', answer: { body: 'text' } }
  expect(Object.keys(attributesOf(item)).toSorted()).toEqual(['service.execution', 'service.node'])
  expect(attributesOf({ refused: { code: 'key_scope', facts: {} } })).toEqual({ 'service.refusal': 'key_scope' })
})
