import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { flowLimits } from '@gateway/api/limits'
import { channelLimits, LEAVING } from '@gateway/ledger-protocol/channels'
import { createLogger } from '@gateway/service-kit/process/logger'
import { startFaultProxy } from '@gateway/testbed/fault-proxy'
import { LedgerRejected, LedgerUnavailable } from './call-operation.ts'
import { privateKey, publicKey } from './fixtures/keys.ts'
import { type PeerLedger, type Received, startPeerLedger } from './fixtures/peer-ledger.ts'
import { type LedgerClient, openLedgerClient } from './ledger-client.ts'
import { digestOf, openRequestVerifier } from './service-token.ts'

// Operations of executions over channels, against a peer that answers as the test says.

const longBudget = { budgetMs: 60_000 }

async function open(options: { path?: string } = {}): Promise<{ peer: PeerLedger; client: LedgerClient }> {
  const peer = await startPeerLedger()
  const url = `${peer.url}${options.path ?? ''}`
  const client = openLedgerClient({ url, service: 'gateway', privateKey, closeGraceMs: 0 })
  onTestFinished(async () => {
    await client.close()
    await peer.stop()
  })
  return { peer, client }
}

const ask = (client: LedgerClient, execution: string) => client.readUsage({ execution }, longBudget)
const usageOf = (n: number) => ({ promptTokens: n, completionTokens: 0 })
const executionOf = ({ question }: Received) => question['execution']

async function take(peer: PeerLedger, count: number): Promise<Received[]> {
  const taken: Received[] = []
  while (taken.length < count) taken.push(await peer.next())
  return taken
}

test('sends the requests of one turn in one message, on a channel opened with a token for its key', async () => {
  const { peer, client } = await open()
  const asked = ['exe_1', 'exe_2'].map((execution) => ask(client, execution))
  const [one, two] = await take(peer, 2)
  expect([one!.path, executionOf(one!), executionOf(two!)]).toEqual(['/executions/usage', 'exe_1', 'exe_2'])
  expect(two!.message).toBe(one!.message)
  const log = createLogger({ service: 'ledger', level: 'fatal' })
  const verify = openRequestVerifier({ publicKeys: { gateway: publicKey }, now: Date.now, log })
  expect(await verify(one!.token, '/operations')).toEqual({ service: 'gateway', bodyDigest: digestOf(one!.channelKey) })
  one!.reply(200, usageOf(1))
  two!.reply(200, usageOf(2))
  expect(await Promise.all(asked)).toEqual([usageOf(1), usageOf(2)])
})

test('gives each caller its own answer, although answers come in any order', async () => {
  const { peer, client } = await open()
  const slow = ask(client, 'exe_slow')
  const first = await peer.next()
  const fast = ask(client, 'exe_fast')
  const second = await peer.next()
  expect(second.channelKey).toBe(first.channelKey)
  second.reply(200, usageOf(2))
  expect(await fast).toEqual(usageOf(2))
  first.reply(200, usageOf(1))
  expect(await slow).toEqual(usageOf(1))
})

test('sends what was under way on a broken channel again, on another one', async () => {
  const { peer, client } = await open()
  const asked = ['exe_1', 'exe_2'].map((execution) => ask(client, execution))
  const [one, two] = await take(peer, 2)
  one!.reply(200, usageOf(1))
  expect(await asked[0]).toEqual(usageOf(1))
  two!.cut()
  const again = await peer.next()
  expect([executionOf(again), again.channelKey === two!.channelKey]).toEqual(['exe_2', false])
  again.reply(200, usageOf(2))
  expect(await asked[1]).toEqual(usageOf(2))
})

test('sends what was under way on a silent channel again, on another one', async () => {
  const peer = await startPeerLedger()
  const proxy = await startFaultProxy({ host: '127.0.0.1', port: peer.port })
  const url = `http://127.0.0.1:${proxy.port}`
  const client = openLedgerClient({ url, service: 'gateway', privateKey, closeGraceMs: 0 })
  onTestFinished(async () => {
    await client.close()
    await proxy.close()
    await peer.stop()
  })
  const asked = ask(client, 'exe_1')
  await peer.next()
  proxy.fallSilent()
  const again = await peer.next()
  again.reply(200, usageOf(1))
  expect(await asked).toEqual(usageOf(1))
  await expect.poll(() => proxy.connections).toBe(1)
})

test('sends on a channel whose ledger stops nothing new, and waits for its answers', async () => {
  const { peer, client } = await open()
  const old = ask(client, 'exe_old')
  const underWay = await peer.next()
  const marked = ask(client, 'exe_marked')
  const mark = await peer.next()
  await underWay.write(LEAVING)
  mark.reply(200, usageOf(0))
  await marked // the message before this answer has arrived, too
  const fresh = ask(client, 'exe_new')
  const elsewhere = await peer.next()
  expect(elsewhere.channelKey).not.toBe(underWay.channelKey)
  elsewhere.reply(200, usageOf(2))
  underWay.reply(200, usageOf(1))
  expect(await Promise.all([old, fresh])).toEqual([usageOf(1), usageOf(2)])
  await underWay.gone
})

test('sends again on another channel what a ledger that is alive does not answer in time', async () => {
  const { peer, client } = await open()
  const asked = ask(client, 'exe_late')
  const first = await peer.next()
  const signs = setInterval(() => void first.write('').catch(() => {}), channelLimits.signOfLifeMs / 2)
  onTestFinished(() => clearInterval(signs))
  const second = await peer.next()
  expect([executionOf(second), second.channelKey === first.channelKey]).toEqual(['exe_late', false])
  second.reply(200, usageOf(1))
  expect(await asked).toEqual(usageOf(1))
})

test('sends again on another channel what a ledger answers with 503', async () => {
  const { peer, client } = await open()
  const asked = ask(client, 'exe_1')
  const first = await peer.next()
  first.reply(503, { error: 'The books cannot be reached now.' })
  const second = await peer.next()
  expect(second.channelKey).not.toBe(first.channelKey)
  await first.gone
  second.reply(200, usageOf(1))
  expect(await asked).toEqual(usageOf(1))
})

test('a large answer that takes long to arrive cuts no other request of its channel', async () => {
  const { peer, client } = await open()
  client.followExecution({ execution: 'exe_large', after: -1 }, longBudget).catch(() => {}) // its try ends first
  const large = await peer.next()
  const answer = { n: 0, status: 200, answer: { lines: 'x'.repeat(400_000), seq: 1, done: true } }
  const frame = frameOf(`${JSON.stringify(answer)}\n`)
  const part = Math.ceil(frame.length / 4)
  let small: Promise<unknown> | null = null
  let received: Received | null = null
  for (let n = 0; n < 4; n++) {
    large.writeRaw(frame.subarray(n * part, (n + 1) * part))
    if (n === 3) break
    await delay(0.7 * channelLimits.signOfLifeMs)
    if (n !== 1) continue
    small = ask(client, 'exe_small')
    received = await peer.next()
  }
  expect(received!.channelKey).toBe(large.channelKey)
  received!.reply(200, usageOf(1))
  expect(await small).toEqual(usageOf(1))
})

/** A text as one frame of a WebSocket, from a server. */
function frameOf(text: string): Buffer {
  const head = Buffer.from([0x81, 127, 0, 0, 0, 0, 0, 0, 0, 0])
  head.writeUInt32BE(Buffer.byteLength(text), 6)
  return Buffer.concat([head, Buffer.from(text)])
}

test('refuses one more beyond the requests that may wait for a place', async () => {
  const { peer, client } = await open()
  const places = 4 * channelLimits.operationsUnderWay
  const asked = Array.from({ length: places + 1_000 }, (_, n) => ask(client, `exe_${n}`))
  await expect(ask(client, 'exe_more')).rejects.toMatchObject({ why: 'overloaded' })
  for (const _ of asked) (await peer.next()).reply(200, usageOf(0))
  await Promise.all(asked)
})

test('spreads a crowd over four channels, and sends the rest as places become free', async () => {
  const { peer, client } = await open()
  const places = 4 * channelLimits.operationsUnderWay
  const asked = Array.from({ length: places + 1 }, (_, n) => ask(client, `exe_${n}`))
  const taken = await take(peer, places)
  const perChannel = Map.groupBy(taken, ({ channelKey }) => channelKey)
  expect([...perChannel.values()].map(({ length }) => length)).toEqual(Array.from({ length: 4 }, () => places / 4))
  expect(peer.unread()).toBe(0)
  taken[0]!.reply(200, usageOf(0))
  const last = await peer.next()
  expect(executionOf(last)).toBe(`exe_${places}`)
  for (const received of [...taken.slice(1), last]) received.reply(200, usageOf(0))
  await Promise.all(asked)
})

test('a caller whose budget ends leaves the others of its channel alone', async () => {
  const { peer, client } = await open()
  const short = client.readUsage({ execution: 'exe_short' }, { budgetMs: 50 })
  const late = await peer.next()
  await expect(short).rejects.toThrow(LedgerUnavailable)
  const other = ask(client, 'exe_other')
  let kept = await peer.next()
  while (executionOf(kept) !== 'exe_other') kept = await peer.next() // repeats of the short one
  late.reply(200, usageOf(1))
  kept.reply(200, usageOf(2))
  expect(await other).toEqual(usageOf(2))
  expect(kept.channelKey).toBe(late.channelKey)
})

test('takes the largest record of an execution, with its lines', async () => {
  const { peer, client } = await open()
  const asked = client.followExecution({ execution: 'exe_1', after: -1 }, longBudget)
  const lines = '"'.repeat(3 * flowLimits.nodes * flowLimits.portBytes)
  ;(await peer.next()).reply(200, { lines, seq: 51, done: true })
  expect(await asked).toEqual({ lines, seq: 51, done: true })
})

test('does not send again what the ledger rejects', async () => {
  const { peer, client } = await open()
  const asked = ask(client, 'exe_1')
  ;(await peer.next()).reply(403, { error: 'No.' })
  await expect(asked).rejects.toThrow(/rejected \/executions\/usage with 403/)
})

test('sends all requests of a channel again if the ledger cannot read a message', async () => {
  const { peer, client } = await open()
  const begun = ask(client, 'exe_1')
  const first = await peer.next()
  const unread = ask(client, 'exe_2')
  const second = await peer.next()
  await second.write('{"error":"Line 1 is not an object with an integer n."}')
  for (const again of await take(peer, 2)) {
    expect(again.channelKey).not.toBe(first.channelKey)
    again.reply(200, usageOf(executionOf(again) === 'exe_1' ? 1 : 2))
  }
  expect(await Promise.all([begun, unread])).toEqual([usageOf(1), usageOf(2)])
})

test('rejects what waits for a channel that the ledger refuses', async () => {
  const { peer, client } = await open()
  const refused = peer.refuseChannel(403)
  const asked = ask(client, 'exe_1')
  await refused
  await expect(asked).rejects.toThrow(LedgerRejected)
})

test.for([
  [401, 'whose clock refuses the token'],
  [404, 'of a release without these channels'],
] as const)('opens another channel after a status of %i, of a ledger %s', async ([status]) => {
  const { peer, client } = await open()
  const refused = peer.refuseChannel(status)
  const asked = ask(client, 'exe_1')
  await refused
  ;(await peer.next()).reply(200, usageOf(1))
  expect(await asked).toEqual(usageOf(1))
})

test('accepts a base URL with a path', async () => {
  const { peer, client } = await open({ path: '/inner/' })
  const asked = ask(client, 'exe_1')
  const received = await peer.next()
  expect(received.address).toBe('/inner/operations')
  received.reply(200, usageOf(1))
  await asked
})
