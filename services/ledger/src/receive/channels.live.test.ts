import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import path from 'node:path'
import { describe, expect, onTestFinished } from 'vitest'
import { newChannelKey } from '@gateway/ledger-client/sealed-channel'
import { openRequestSigner } from '@gateway/ledger-client/service-token'
import { channelLimits, LEAVING } from '@gateway/ledger-protocol/channels'
import type { LedgerItem } from '@gateway/ledger-protocol/ledger-items'
import type { ServiceName } from '@gateway/ledger-protocol/ledger-reads'
import { newServiceKeys } from '@gateway/service-kit/process/service-keys'
import { startProgram } from '@gateway/testbed/test-program'
import { temporaryFolder } from '@gateway/testbed/test-servers'
import { insertNodes, insertExecution, nodeItem } from '../fixtures/execution-rows.ts'
import { keepLocked } from '../fixtures/keep-locked.ts'
import { openTenant, test as tenantTest } from '../fixtures/ledger-test.ts'
import { ledgerEnvironment, openLedger, secrets } from '../fixtures/open-ledger.ts'
import { openChannels, itemsChannels } from './channels.ts'
import { openRawChannel, type RawChannel } from '../fixtures/raw-channel.ts'

/**
 * A saved response of 0.9 MB, each byte of which takes six in JSON: all repeats together exceed the maximum length of a
 * string.
 */
const ANSWER = '\u0001'.repeat(900_000)
const REPEATS = 105

/** A separate process, so that its memory can be measured. */
const test = tenantTest.extend('ledger', { scope: 'file' }, async ({ database, redis }, { onCleanup }) => {
  const ledger = await startProgram({
    name: 'ledger',
    entry: path.join(import.meta.dirname, '../main.ts'),
    folder: await temporaryFolder('ledger'),
    env: ledgerEnvironment({ database, redis }),
  })
  onCleanup(ledger.stop)
  return ledger
})

test.beforeEach(({ replica }) => replica.heartbeat())

describe('a channel of items', () => {
  test('routes each item to the admission batcher or the node batcher', async ({ ledger, fixture, replica }) => {
    const tenant = await openTenant(fixture)
    const execution = await insertExecution(fixture, tenant.project.id, { key: tenant.key.id })
    const [node, held] = await insertNodes(fixture, { execution, project: tenant.project.id, count: 2 })
    await replica.admitNode(nodeItem(replica, held!, tenant.product))
    const direct = replica.item(tenant.key, tenant.product)
    const strange = { execution: 'exe_nowhere', node: 'n0', lease: 'ab'.repeat(16) }
    const result = { kind: 'given-back' as const }
    const items: LedgerItem[] = [
      direct,
      nodeItem(replica, node!, tenant.product),
      { op: 'release', id: held!.reservation, reason: 'test' },
      { op: 'claim', ...strange, instance: replica.instance, attempt: 1 },
      { op: 'complete', ...strange, result, usage: null, measured: { durationMs: 1, remoteMs: null } },
    ]
    const channel = await open(ledger, 'worker')
    channel.send(linesOf(items.map((item, n) => ({ n, budgetMs: 10_000, item }))))
    const outcomes = (await channel.outcomes(items.length)).toSorted((a, b) => a.n - b.n)
    expect(outcomes.map(({ outcome }) => outcome.kind)).toEqual([
      'admitted',
      'admitted',
      'unknown',
      'nothing-to-do',
      'fenced',
    ])
  })

  test('sends an empty message as a sign of life while no item is decided', async ({
    ledger,
    fixture,
    replica,
    database,
  }) => {
    const tenant = await openTenant(fixture)
    const unlock = await lockWallet(database, tenant.project.id)
    const item = replica.item(tenant.key, tenant.product)
    const channel = await open(ledger, 'gateway')
    channel.send(linesOf([{ n: 0, budgetMs: 10_000, item }]))
    expect(await channel.next()).toBe('')
    await unlock()
    expect(await channel.outcomes(1)).toMatchObject([{ n: 0, outcome: { kind: 'admitted' } }])
  })

  test('replays one large saved response 105 times in one message and stays available', async ({
    ledger,
    fixture,
    replica,
  }) => {
    const tenant = await openTenant(fixture)
    const idempotency = { key: 'a large answer', fingerprint: 'a'.repeat(64) }
    const first = replica.item(tenant.key, tenant.product, { idempotency })
    await replica.admit(first)
    await replica.settle(first.id, undefined, { contentType: 'application/json', body: ANSWER })

    const ask = (n: number) => ({
      n,
      budgetMs: 60_000,
      item: replica.item(tenant.key, tenant.product, { idempotency }),
    })
    const channel = await open(ledger, 'gateway')
    const post = (count: number) => channel.send(linesOf(Array.from({ length: count }, (_, n) => ask(n))))
    const lineBytes = JSON.stringify({ n: 1, outcome: { kind: 'replay', body: ANSWER } }).length
    const before = await memoryOf(ledger.pid)
    post(REPEATS)
    const { lines, bytes } = await readThrough(channel, REPEATS)
    console.log(`the ledger's memory: ${before} MB at start, ${await memoryOf(ledger.pid)} MB at most`)
    expect(lines).toBe(REPEATS)
    expect(bytes).toBeGreaterThan(REPEATS * lineBytes)

    post(1)
    expect(await channel.outcomes(1)).toEqual([
      { n: 0, outcome: { kind: 'replay', invocation: first.id, contentType: 'application/json', body: ANSWER } },
    ])
  })

  test('names the malformed line, decides no item, and stays open', async ({ ledger, fixture, replica }) => {
    const tenant = await openTenant(fixture)
    const channel = await open(ledger, 'gateway')
    for (const [text, error] of [
      ['{"n":1}\n', /^Line 1: /],
      ['no json\n', /^Line 1 is not JSON/],
      ['', /^Send at least one line/],
    ] as const) {
      channel.send(text)
      expect(JSON.parse(await channel.next())).toEqual({ error: expect.stringMatching(error) })
    }
    channel.send(linesOf([{ n: 7, budgetMs: 10_000, item: replica.item(tenant.key, tenant.product) }]))
    expect(await channel.outcomes(1)).toMatchObject([{ n: 7, outcome: { kind: 'admitted' } }])
  })
})

describe('who may use a channel', () => {
  const release = linesOf([{ n: 0, budgetMs: 10_000, item: { op: 'release', id: 'inv_unknown', reason: 'test' } }])

  test('refuses a channel without a valid token, and one of a service that sends no items', async ({ ledger }) => {
    const tokenFor = (text: string) =>
      openRequestSigner({ service: 'gateway', privateKey: secrets.gateway, now: Date.now }).sign('/items', text)
    const another = newServiceKeys().privateKey
    for (const options of [
      { token: 'nonsense' },
      { privateKey: another },
      { token: tokenFor(newChannelKey().publicKey) },
    ])
      await expect(openRawChannel(ledger, 'gateway', options)).rejects.toThrow(
        /^401 .*A service token for this request/,
      )
    await expect(openRawChannel(ledger, 'console')).rejects.toThrow(
      '403 {"error":"The service console may not call /items."}',
    )
  })

  test.for([
    ['without a seal', (channel: RawChannel) => channel.sendRaw(release)],
    [
      'with the seal of another message',
      (channel: RawChannel) => channel.send(`${release} `, channel.send(release).slice(0, 43)),
    ],
    ['that was changed', (channel: RawChannel) => channel.send(release, 'A'.repeat(43))],
  ] as const)('closes a channel at a message %s', async ([_what, send], { ledger }) => {
    const channel = await open(ledger, 'gateway')
    send(channel)
    expect(await channel.closed).toBe(1008)
  })

  test('does nothing that arrives after a message with a wrong seal', async ({ ledger, fixture }) => {
    const channel = await open(ledger, 'gateway')
    channel.send(release, 'A'.repeat(43))
    channel.skipSeal()
    const id = 'inv_after_a_wrong_seal'
    channel.send(linesOf([{ n: 0, budgetMs: 10_000, item: { op: 'release', id, reason: 'test' } }]))
    expect(await channel.closed).toBe(1008)
    const next = await open(ledger, 'gateway')
    next.send(release)
    await next.outcomes(1) // what was taken before it is decided, too
    const { rows } = await fixture.run('SELECT id FROM money.attempts WHERE id = $1', [id])
    expect(rows).toEqual([])
  })

  test('closes a channel at a message before the outcomes of the one before', async ({
    ledger,
    fixture,
    replica,
    database,
  }) => {
    const tenant = await openTenant(fixture)
    await lockWallet(database, tenant.project.id)
    const channel = await open(ledger, 'gateway')
    channel.send(linesOf([{ n: 0, budgetMs: 10_000, item: replica.item(tenant.key, tenant.product) }]))
    channel.send(release)
    expect(await channel.closed).toBe(1008)
  })

  test('closes a channel at a repeated message', async ({ ledger }) => {
    const channel = await open(ledger, 'gateway')
    const sent = channel.send(release)
    expect(await channel.outcomes(1)).toMatchObject([{ outcome: { kind: 'released' } }])
    channel.sendRaw(sent)
    expect(await channel.closed).toBe(1008)
  })
})

describe('a channel of operations', () => {
  const ask = (n: number, path: string, request: object = {}) => ({ n, path, request })
  const usage = (n: number) => ask(n, '/executions/usage', { execution: `exe_${n}` })

  test('answers each line, and refuses what its service may not ask', async ({ ledger }) => {
    const channel = await openOperations(ledger, 'worker')
    channel.send(
      linesOf([
        usage(0),
        ask(1, '/executions/start'),
        ask(2, '/assets/record'),
        ask(3, '/fundings'),
        ask(4, '/assets/record', { id: 'x'.repeat(2 * 1024 * 1024) }),
      ]),
    )
    const answers = (await channel.answers(5)).toSorted((a, b) => a.n - b.n)
    expect(answers).toEqual([
      { n: 0, status: 403, answer: { error: 'The service worker may not call /executions/usage.' } },
      { n: 1, status: 403, answer: { error: 'The service worker may not call /executions/start.' } },
      { n: 2, status: 400, answer: { error: expect.stringContaining('id') as string } },
      { n: 3, status: 404, answer: { error: 'There is no operation /fundings on this channel.' } },
      { n: 4, status: 413, answer: { error: 'A request of /assets/record has at most 1048576 bytes.' } },
    ])
    const gateway = await openOperations(ledger, 'gateway')
    gateway.send(linesOf([usage(0), usage(1)]))
    gateway.send(linesOf([usage(2)])) // before the answers to the message before
    expect((await gateway.answers(3)).map(({ status }) => status)).toEqual([200, 200, 200])
  })

  test('answers a failure with 503, without its cause', async ({ ledger }) => {
    const channel = await openOperations(ledger, 'gateway')
    channel.send(linesOf([ask(0, '/executions/usage', { execution: '\u0000' })])) // Postgres stores no such text
    expect(await channel.answers(1)).toEqual([
      { n: 0, status: 503, answer: { error: 'The books cannot be reached now.' } },
    ])
  })

  test('refuses a malformed line alone, and a message with a line that no answer can name, and stays open', async ({
    ledger,
  }) => {
    const channel = await openOperations(ledger, 'gateway')
    channel.send(linesOf([usage(0), { n: 1, path: 7 }]))
    expect((await channel.answers(2)).toSorted((a, b) => a.n - b.n)).toMatchObject([
      { n: 0, status: 200 },
      { n: 1, status: 400, answer: { error: expect.stringContaining('path') as string } },
    ])
    channel.send(`${linesOf([usage(2)])}no json\n`)
    expect(JSON.parse(await channel.next())).toEqual({ error: 'Line 2 is not an object with an integer n.' })
    channel.send(linesOf([usage(3)]))
    expect(await channel.answers(1)).toMatchObject([{ n: 3, status: 200 }])
  })

  test('closes a channel with more requests under way than a service may send', async ({ ledger }) => {
    const channel = await openOperations(ledger, 'gateway')
    channel.send(linesOf(Array.from({ length: channelLimits.operationsUnderWay + 1 }, (_, n) => usage(n))))
    expect(await channel.closed).toBe(1008)
  })

  test('says that its ledger stops, and has its answers before it is closed', async ({
    database,
    redis,
    fixture,
    replica,
  }) => {
    const stopping = await openLedger({ database, redis })
    const tenant = await openTenant(fixture)
    const execution = await insertExecution(fixture, tenant.project.id, { key: tenant.key.id })
    await replica.heartbeat()
    const unlock = await lock(database, 'LOCK money.executions IN ACCESS EXCLUSIVE MODE')
    const [idle, busy] = [await openOperations(stopping, 'gateway'), await openOperations(stopping, 'gateway')]
    const caller = { keyHash: tenant.key.hash, selector: null }
    busy.send(linesOf([ask(0, '/executions/read', { caller, project: null, execution })]))
    expect(await busy.next()).toBe('')
    const stopped = stopping.stop()
    expect(await idle.closed).toBe(1001)
    expect(await busy.next()).toBe(LEAVING)
    await unlock()
    expect(await busy.answers(1)).toMatchObject([{ n: 0, status: 200 }])
    expect(await busy.closed).toBe(1001)
    await stopped
  })
})

test('a ledger that stops closes idle channels at once, and another one after its outcomes', async ({
  database,
  redis,
  fixture,
  replica,
}) => {
  const stopping = await openLedger({ database, redis })
  const tenant = await openTenant(fixture)
  const unlock = await lockWallet(database, tenant.project.id)
  const [idle, busy] = [await open(stopping, 'gateway'), await open(stopping, 'gateway')]
  busy.send(linesOf([{ n: 0, budgetMs: 10_000, item: replica.item(tenant.key, tenant.product) }]))
  expect(await busy.next()).toBe('')
  const stopped = stopping.stop()
  expect(await idle.closed).toBe(1001)
  await unlock()
  expect(await busy.outcomes(1)).toMatchObject([{ outcome: { kind: 'admitted' } }])
  expect(await busy.closed).toBe(1001)
  await stopped
})

test('a service that disconnects while its token is verified harms no one', async () => {
  const verifying = Promise.withResolvers<void>()
  const verified = Promise.withResolvers<null>()
  const channels = openChannels([itemsChannels(() => Promise.reject(new Error('no item was sent')))], () => {
    verifying.resolve()
    return verified.promise
  })
  const server = createServer().on('upgrade', channels.accept).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const headers = { connection: 'Upgrade', upgrade: 'websocket', authorization: 'Bearer a.b.c' }
  const asking = request({ host: '127.0.0.1', port, path: '/items', headers }).on('error', () => {})
  asking.end()
  const [socket] = (await once(server, 'connection')) as [Socket]
  await verifying.promise
  const closed = new Promise((resolve) => socket.once('close', resolve))
  asking.socket!.resetAndDestroy()
  await closed
  verified.resolve(null)
  await channels.stop(1_000)
})

const openOperations = (ledger: { url: string }, service: ServiceName) => open(ledger, service, { path: '/operations' })

async function open(...parameters: Parameters<typeof openRawChannel>): Promise<RawChannel> {
  const channel = await openRawChannel(...parameters)
  onTestFinished(channel.close)
  return channel
}

/** Keeps a wallet locked, so that no item of its project is decided. */
function lockWallet(database: { adminUrl: string }, project: string): Promise<() => Promise<void>> {
  return lock(database, 'SELECT FROM money.wallets WHERE project = $1 FOR UPDATE', [project])
}

/** Keeps the locks of a statement. Returns what gives them back; the end of the test does. */
async function lock(
  { adminUrl }: { adminUrl: string },
  sql: string,
  values: unknown[] = [],
): Promise<() => Promise<void>> {
  const end = await keepLocked(adminUrl, sql, values)
  let unlocked: Promise<void> | undefined
  const unlock = () => (unlocked ??= end())
  onTestFinished(unlock)
  return unlock
}

function linesOf(lines: object[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}

async function readThrough(channel: RawChannel, count: number): Promise<{ lines: number; bytes: number }> {
  const read = { lines: 0, bytes: 0 }
  while (read.lines < count) {
    const message = await channel.next()
    read.bytes += message.length
    read.lines += message.split('\n').length - 1
  }
  return read
}

/** Returns the peak memory of a process, in megabytes; null if the system does not report it. */
async function memoryOf(pid: number): Promise<number | null> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const kilobytes = /^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]
  return kilobytes ? Math.round(Number(kilobytes) / 1024) : null
}
