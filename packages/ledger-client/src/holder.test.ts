import { expect, onTestFinished, test } from 'vitest'
import { startPeerLedger } from './fixtures/peer-ledger.ts'
import { openHolder } from './holder.ts'
import { openLedgerClient } from './ledger-client.ts'

async function open() {
  const peer = await startPeerLedger()
  const client = openLedgerClient({ url: peer.url, service: 'gateway', secret: 's'.repeat(32), closeGraceMs: 0 })
  onTestFinished(async () => {
    await client.close()
    await peer.stop()
  })
  let minted = 0
  const mintId = () => `hld_${++minted}`
  /** Answers the next beat and tells whose it was. */
  async function beat(alive: boolean): Promise<unknown> {
    const request = await peer.next()
    expect(request.path).toBe('/holders/beat')
    request.reply(200, { alive })
    return request.question['holder']
  }
  return { peer, client, mintId, beat }
}

const long = 60_000

test('it is on the books before it is handed out', async () => {
  const { peer, client, mintId } = await open()
  const opening = openHolder({ client, service: 'gateway', beatMs: long, mintId })
  const request = await peer.next()
  expect(request.question).toEqual({ holder: 'hld_1', service: 'gateway', deadAfterMs: 15_000 })
  request.reply(200, { alive: true })
  const holder = await opening
  expect(holder.id()).toBe('hld_1')
})

test('it beats on, and goes on under a fresh id once it was declared dead', async () => {
  const { client, mintId, beat } = await open()
  const opening = openHolder({ client, service: 'gateway', beatMs: 5, mintId })
  expect(await beat(true)).toBe('hld_1')
  const holder = await opening
  expect(await beat(true)).toBe('hld_1')
  expect(await beat(false)).toBe('hld_1')
  expect(await beat(true)).toBe('hld_2')
  expect(await beat(true)).toBe('hld_2')
  expect(holder.id()).toBe('hld_2')
})

test('a beat that finds nobody is followed by the next one', async () => {
  const { peer, client, mintId, beat } = await open()
  const opening = openHolder({ client, service: 'gateway', beatMs: 20, mintId })
  await beat(true)
  const holder = await opening
  await (
    await peer.next()
  ).gone // never answered: the beat's time ends
  expect(await beat(true)).toBe('hld_1')
  expect(holder.id()).toBe('hld_1')
})

test('a crowd whose admissions met an unknown holder makes one fresh id', async () => {
  const { peer, client, mintId, beat } = await open()
  const opening = openHolder({ client, service: 'gateway', beatMs: long, mintId })
  await beat(true)
  const holder = await opening
  const crowd = Promise.all(Array.from({ length: 50 }, () => holder.renew()))
  expect(await beat(false)).toBe('hld_1')
  expect(await beat(true)).toBe('hld_2')
  await crowd
  expect(holder.id()).toBe('hld_2')
  expect(peer.unread()).toBe(0)
})

test('who comes late with the old id does not end the fresh one', async () => {
  const { client, mintId, beat } = await open()
  const opening = openHolder({ client, service: 'gateway', beatMs: long, mintId })
  await beat(true)
  const holder = await opening
  const late = holder.renew()
  expect(await beat(true)).toBe('hld_1')
  await late
  expect(holder.id()).toBe('hld_1')
})

test('stopping tells the ledger, and nothing beats after it', async () => {
  const { peer, client, mintId, beat } = await open()
  const opening = openHolder({ client, service: 'gateway', beatMs: long, mintId })
  await beat(true)
  const holder = await opening
  const stopping = Promise.all([holder.stop(), holder.stop()])
  const request = await peer.next()
  expect(request.path).toBe('/holders/end')
  expect(request.question).toEqual({ holder: 'hld_1' })
  request.reply(200, { ended: null })
  await stopping
  await holder.renew()
  expect(peer.unread()).toBe(0)
})
