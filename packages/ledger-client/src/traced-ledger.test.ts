import { expect, onTestFinished, test } from 'vitest'
import { admitted, nodeAdmission, settled, settlement } from './fixtures/items.ts'
import { startPeerLedger } from './fixtures/peer-ledger.ts'
import { openLedgerClient } from './ledger-client.ts'
import { attributesOf, tracedLedger } from './traced-ledger.ts'

async function open() {
  const peer = await startPeerLedger()
  const client = openLedgerClient({ url: peer.url, service: 'worker', secret: 's'.repeat(32), closeGraceMs: 0 })
  onTestFinished(async () => {
    await client.close()
    await peer.stop()
  })
  return { peer, client }
}

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

test('an item that is traced names its asker, beside others that say nothing', async () => {
  const { peer, client } = await open()
  const both = [
    client.settle(settlement('inv_1')),
    client.admitNode(nodeAdmission('inv_2'), { budgetMs: 60_000, traceparent }),
  ]
  const request = await peer.next()
  expect(request.lines.map((line) => [line.item.op, 'trace' in line, line.trace])).toEqual([
    ['settle', false, undefined],
    ['admit-node', true, traceparent],
  ])
  request.end({ n: 0, outcome: settled }, { n: 1, outcome: admitted('inv_2') })
  await Promise.all(both)
})

test('without a tracer nothing is wrapped', async () => {
  const { client } = await open()
  expect(tracedLedger(null, client)).toBe(client)
})

test('attributes are ids and amounts; a lease, a key and whatever somebody wrote are none', () => {
  const item = { ...nodeAdmission('inv_1'), keyHash: 'abc', answer: { body: 'text' } }
  expect(Object.keys(attributesOf(item)).toSorted()).toEqual(['service.execution', 'service.node'])
  expect(attributesOf({ refused: { code: 'key_scope', facts: {} } })).toEqual({ 'service.refusal': 'key_scope' })
})
