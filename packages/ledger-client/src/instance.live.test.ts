import { expect, onTestFinished, test } from 'vitest'
import { privateKey } from './fixtures/keys.ts'
import { startPeerLedger } from './fixtures/peer-ledger.ts'
import { registerInstance } from './instance.ts'
import { openLedgerClient } from './ledger-client.ts'

async function open() {
  const peer = await startPeerLedger()
  const client = openLedgerClient({ url: peer.url, service: 'gateway', privateKey, closeGraceMs: 0 })
  onTestFinished(async () => {
    await client.close()
    await peer.stop()
  })
  let made = 0
  const notified: string[] = []
  const register = (heartbeatMs: number) =>
    registerInstance({
      ledger: client,
      service: 'gateway',
      heartbeatMs,
      newId: () => `ins_${++made}`,
      notifier: { notify: (topic) => void notified.push(topic) },
      stopping: new AbortController().signal,
      log: { warn: () => {} },
    })
  /** Answers the next heartbeat and returns the instance that sent it. */
  async function heartbeat(alive: boolean): Promise<unknown> {
    const request = await peer.next()
    expect(request.path).toBe('/instances/heartbeat')
    request.reply(200, { alive })
    return request.question['instance']
  }
  return { peer, register, heartbeat, notified }
}

const long = 60_000

test('registers an instance with the ledger before returning it', async () => {
  const { peer, register } = await open()
  const opening = register(long)
  const request = await peer.next()
  expect(request.question).toEqual({ instance: 'ins_1', service: 'gateway', deadAfterMs: 3 * long })
  request.reply(200, { alive: true })
  const instance = await opening
  expect(instance.id()).toBe('ins_1')
})

test('keeps sending heartbeats, and continues under a fresh id after the ledger declared it dead', async () => {
  const { register, heartbeat } = await open()
  const opening = register(5)
  expect(await heartbeat(true)).toBe('ins_1')
  const instance = await opening
  expect(await heartbeat(true)).toBe('ins_1')
  expect(await heartbeat(false)).toBe('ins_1')
  expect(await heartbeat(true)).toBe('ins_2')
  expect(await heartbeat(true)).toBe('ins_2')
  expect(instance.id()).toBe('ins_2')
})

test('sends the next heartbeat after one that was not answered', async () => {
  const { peer, register, heartbeat } = await open()
  const opening = register(20)
  await heartbeat(true)
  const instance = await opening
  await (
    await peer.next()
  ).gone // not answered: the heartbeat times out
  expect(await heartbeat(true)).toBe('ins_1')
  expect(instance.id()).toBe('ins_1')
})

test('sends signs of life through the notifier only while its heartbeats reach no ledger', async () => {
  const { peer, register, heartbeat, notified } = await open()
  const opening = register(20)
  await heartbeat(true)
  await opening
  for (let n = 0; n < 5; n++) await heartbeat(true)
  await peer.next() // never answered
  await expect.poll(() => notified.length).toBeGreaterThan(2)
  expect(new Set(notified)).toEqual(new Set(['alive:ins_1']))
})

test('shares one fresh id among many admissions that met an unknown instance', async () => {
  const { peer, register, heartbeat } = await open()
  const opening = register(long)
  await heartbeat(true)
  const instance = await opening
  const renewals = Promise.all(Array.from({ length: 50 }, () => instance.renew()))
  expect(await heartbeat(false)).toBe('ins_1')
  expect(await heartbeat(true)).toBe('ins_2')
  await renewals
  expect(instance.id()).toBe('ins_2')
  expect(peer.unread()).toBe(0)
})

test('keeps its id when renewed while the ledger still knows it', async () => {
  const { register, heartbeat } = await open()
  const opening = register(long)
  await heartbeat(true)
  const instance = await opening
  const late = instance.renew()
  expect(await heartbeat(true)).toBe('ins_1')
  await late
  expect(instance.id()).toBe('ins_1')
})

test('ends the instance at the ledger when stopped, and sends no more heartbeats', async () => {
  const { peer, register, heartbeat } = await open()
  const opening = register(long)
  await heartbeat(true)
  const instance = await opening
  const stopping = Promise.all([instance.stop(), instance.stop()])
  const request = await peer.next()
  expect(request.path).toBe('/instances/end')
  expect(request.question).toEqual({ instance: 'ins_1' })
  request.reply(200, { ended: null })
  await stopping
  await instance.renew()
  expect(peer.unread()).toBe(0)
})
