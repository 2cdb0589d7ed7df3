import { expect, onTestFinished, test } from 'vitest'
import { channelLimits } from '@gateway/ledger-protocol/channels'
import { startFaultProxy } from '@gateway/testbed/fault-proxy'
import { privateKey } from './fixtures/keys.ts'
import { admission, admitted, settled, settlement } from './fixtures/items.ts'
import { startPeerLedger } from './fixtures/peer-ledger.ts'
import { openLedgerClient } from './ledger-client.ts'

// A connection that goes silent is closed and never used again; its items are resent on another one.

const longBudget = { budgetMs: 60_000 }

async function open() {
  const peer = await startPeerLedger()
  const proxy = await startFaultProxy({ host: '127.0.0.1', port: peer.port })
  const client = openLedgerClient({
    url: `http://127.0.0.1:${proxy.port}`,
    service: 'gateway',
    privateKey,
    closeGraceMs: 0,
  })
  onTestFinished(async () => {
    await client.close()
    await proxy.close()
    await peer.stop()
  })
  return { peer, proxy, client }
}

test('resends items of a silent connection on another one, under the same ids', async () => {
  const { peer, proxy, client } = await open()
  const asked = client.admit(admission('inv_1'), longBudget)
  await peer.next()
  proxy.fallSilent()
  const again = await peer.next()
  expect(again.ids).toEqual(['inv_1'])
  again.end({ n: 0, outcome: admitted('inv_1') })
  expect(await asked).toEqual(admitted('inv_1'))
  await expect.poll(() => proxy.connections).toBe(1) // the silent one is closed
})

test('cuts a request that goes silent after its first outcome', async () => {
  const { peer, proxy, client } = await open()
  const all = ['inv_1', 'inv_2'].map((id) => client.admit(admission(id), longBudget))
  const first = await peer.next()
  await first.answer({ n: 0, outcome: admitted('inv_1') })
  expect(await all[0]).toEqual(admitted('inv_1'))
  proxy.fallSilent()
  const again = await peer.next()
  expect(again.ids).toEqual(['inv_2'])
  again.end({ n: 0, outcome: admitted('inv_2') })
  expect(await all[1]).toEqual(admitted('inv_2'))
})

test('waits for a slow ledger that still sends signs of life', async () => {
  const { peer, client } = await open()
  const settling = client.settle(settlement('inv_1'))
  const request = await peer.next()
  for (let n = 0; n < 4; n++) {
    await new Promise((resolve) => setTimeout(resolve, channelLimits.signOfLifeMs))
    await request.write('')
  }
  request.end({ n: 0, outcome: settled })
  expect(await settling).toEqual(settled)
  expect(peer.unread()).toBe(0)
})

test('retries an operation of a silent connection on another one', async () => {
  const { peer, proxy, client } = await open()
  const asked = client.models({ keyHash: '0'.repeat(64), selector: null }, longBudget)
  await peer.next()
  proxy.fallSilent()
  const again = await peer.next()
  again.reply(200, { models: [] })
  expect(await asked).toEqual({ models: [] })
  await expect.poll(() => proxy.connections).toBe(1)
})
