import { expect, onTestFinished, test } from 'vitest'
import type { OutcomeLine } from '@gateway/ledger-protocol/ledger-items'
import { privateKey, publicKey } from './fixtures/keys.ts'
import { admission, admitted, settled, settlement } from './fixtures/items.ts'
import { startPeerLedger, type PeerLedger, type Received } from './fixtures/peer-ledger.ts'
import { openLedgerClient, type LedgerClient, type LedgerClientOptions } from './ledger-client.ts'
import { LedgerRejected, LedgerUnavailable } from './call-operation.ts'
import { createLogger } from '@gateway/service-kit/process/logger'
import { digestOf, openRequestVerifier } from './service-token.ts'

const longBudget = { budgetMs: 60_000 }

async function open(options: Partial<LedgerClientOptions> = {}): Promise<{ peer: PeerLedger; client: LedgerClient }> {
  const peer = await startPeerLedger()
  const client = openLedgerClient({ url: peer.url, service: 'gateway', privateKey, closeGraceMs: 0, ...options })
  onTestFinished(async () => {
    await client.close()
    await peer.stop()
  })
  return { peer, client }
}

/** Returns an outcome for every item of a request: admitted or settled. */
function yes({ lines }: Received): OutcomeLine[] {
  return lines.map(({ n, item }) => ({ n, outcome: item.op === 'admit' ? admitted(item.id) : settled }))
}

/** Fills all requests that may wait for an outcome, so that later items gather. Returns those requests. */
async function fillBatcher(peer: PeerLedger, client: LedgerClient, count = 3): Promise<Received[]> {
  const requests: Received[] = []
  for (let n = 0; n < count; n++) {
    client.admit(admission(`fill_${n}`), longBudget).catch(() => {})
    requests.push(await peer.next())
  }
  return requests
}

test('sends a single item at once, with its budget, on a channel opened with a token for its key', async () => {
  const { peer, client } = await open()
  const asked = client.admit(admission('inv_1'), { budgetMs: 1_000 })
  const request = await peer.next()
  expect(request.path).toBe('/items')
  expect(request.lines).toEqual([{ n: 0, budgetMs: expect.any(Number), item: { op: 'admit', ...admission('inv_1') } }])
  expect(request.lines[0]!.budgetMs).toBeLessThanOrEqual(900)
  const log = createLogger({ service: 'ledger', level: 'fatal' })
  const verify = openRequestVerifier({ publicKeys: { gateway: publicKey }, now: Date.now, log })
  expect(await verify(request.token, '/items')).toEqual({
    service: 'gateway',
    bodyDigest: digestOf(request.channelKey),
  })
  request.end(...yes(request))
  expect(await asked).toEqual(admitted('inv_1'))
})

test('sends items submitted in one tick in one request, closings first', async () => {
  const { peer, client } = await open()
  const all = [
    client.admit(admission('inv_1'), longBudget),
    client.settle(settlement('inv_2', 'ä"\n\u0000')),
    client.release({ id: 'inv_3', reason: 'no answer' }),
    client.admit(admission('inv_4'), longBudget),
  ]
  const request = await peer.next()
  expect(request.ids).toEqual(['inv_2', 'inv_3', 'inv_1', 'inv_4'])
  expect(request.lines[0]!.item).toEqual({ op: 'settle', ...settlement('inv_2', 'ä"\n\u0000') })
  request.end(...yes(request))
  expect(await Promise.all(all)).toEqual([admitted('inv_1'), settled, settled, admitted('inv_4')])
})

test('delivers outcomes as they arrive, in any order', async () => {
  const { peer, client } = await open()
  const [one, two, three] = ['inv_1', 'inv_2', 'inv_3'].map((id) => client.admit(admission(id), longBudget))
  const request = await peer.next()
  await request.answer({ n: 2, outcome: admitted('inv_3') })
  expect(await three).toEqual(admitted('inv_3'))
  const replay = {
    kind: 'replay',
    invocation: 'inv_0',
    contentType: 'application/json',
    body: '{"ü":"😀\\n"}',
  } as const
  await request.answer({ n: 0, outcome: replay })
  expect(await one).toEqual(replay)
  request.end({ n: 1, outcome: admitted('inv_2') })
  expect(await two).toEqual(admitted('inv_2'))
})

test('gathers items while a request has no outcome, and sends them together after its first outcome', async () => {
  const { peer, client } = await open({ patienceMs: 60_000 })
  const lone = client.admit(admission('lone'), longBudget)
  const first = await peer.next()
  const gathered = ['inv_1', 'inv_2', 'inv_3'].map(async (id, n) => {
    for (let turn = 0; turn <= n; turn++) await new Promise(setImmediate)
    return client.admit(admission(id), longBudget)
  })
  for (let turn = 0; turn < 4; turn++) await new Promise(setImmediate) // all were submitted
  first.end(...yes(first))
  expect(await lone).toEqual(admitted('lone'))
  const second = await peer.next()
  expect(second.ids).toEqual(['inv_1', 'inv_2', 'inv_3'])
  second.end(...yes(second))
  expect(await Promise.all(gathered)).toHaveLength(3)
})

test('does not let a request without an outcome hold up later items', async () => {
  const { peer, client } = await open({ patienceMs: 1 })
  client.admit(admission('stuck'), longBudget).catch(() => {})
  await peer.next() // never answered
  const other = client.admit(admission('inv_1'), longBudget)
  const second = await peer.next()
  expect(second.ids).toEqual(['inv_1'])
  second.end(...yes(second))
  expect(await other).toEqual(admitted('inv_1'))
})

test('sends a full request while another one is in flight', async () => {
  const { peer, client } = await open({ patienceMs: 60_000 })
  const all = Array.from({ length: 1_024 }, (_, n) => client.admit(admission(`inv_${n}`), longBudget))
  const [first, second] = [await peer.next(), await peer.next()] // the first is not answered
  second.end(...yes(second))
  first.end(...yes(first))
  expect(await Promise.all(all)).toHaveLength(1_024)
})

test('gathers items while all requests are in flight, and sends them together once one of them returns an outcome', async () => {
  const { peer, client } = await open()
  const [first] = await fillBatcher(peer, client)
  client.admit(admission('slow'), longBudget).catch(() => {})
  const gathered = Array.from({ length: 20 }, (_, n) => client.admit(admission(`inv_${n}`), longBudget))
  await first!.answer({ n: 0, outcome: admitted('fill_0') }) // still open
  const request = await peer.next()
  expect(request.ids).toEqual(['slow', ...gathered.map((_, n) => `inv_${n}`)])
  await request.answer(...yes(request).slice(1))
  expect(await Promise.all(gathered)).toHaveLength(20)
  // The slow item keeps its request open but holds up no other.
  const next = client.admit(admission('inv_20'), longBudget)
  const another = await peer.next()
  another.end(...yes(another))
  expect(await next).toEqual(admitted('inv_20'))
})

test('puts at most 512 items into a request', async () => {
  const { peer, client } = await open()
  const all = Array.from({ length: 1_100 }, (_, n) => client.admit(admission(`inv_${n}`), longBudget))
  const requests = [await peer.next(), await peer.next(), await peer.next()]
  expect(requests.map(({ lines }) => lines.length).toSorted((a, b) => b - a)).toEqual([512, 512, 76])
  for (const request of requests) request.end(...yes(request))
  expect(await Promise.all(all)).toHaveLength(1_100)
})

test('puts at most 1 MB into a request, and sends a larger item alone', async () => {
  const { peer, client } = await open()
  const body = 'ä'.repeat(200_000)
  const all = [
    ...[1, 2, 3].map((n) => client.settle(settlement(`inv_${n}`, body))),
    client.settle(settlement('large', 'x'.repeat(1_200_000))),
  ]
  const requests = [await peer.next(), await peer.next(), await peer.next()]
  expect(requests.map(({ ids }) => ids.join()).toSorted()).toEqual(['inv_1,inv_2', 'inv_3', 'large'])
  for (const request of requests) request.end(...yes(request))
  expect(await Promise.all(all)).toHaveLength(4)
})

test('resends only the unanswered items of a cut request, under the same ids', async () => {
  const { peer, client } = await open()
  const all = ['inv_1', 'inv_2', 'inv_3'].map((id) => client.admit(admission(id), longBudget))
  const cut = await peer.next()
  await cut.answer({ n: 1, outcome: admitted('inv_2') })
  expect(await all[1]).toEqual(admitted('inv_2'))
  cut.cut()
  const again = await peer.next()
  expect(again.ids).toEqual(['inv_1', 'inv_3'])
  again.end(...yes(again))
  expect(await Promise.all(all)).toEqual(['inv_1', 'inv_2', 'inv_3'].map(admitted))
})

test.each([
  ['ends before each item has an outcome', (request: Received) => request.end()],
  ['is not NDJSON', (request: Received) => void request.write('<html>\n')],
  ['is a 503', (request: Received) => request.reply(503, { error: 'starting' })],
])('resends an item if the response %s', async (_what, spoil) => {
  const { peer, client } = await open()
  const settledSoon = client.settle(settlement('inv_1'))
  for (let n = 0; n < 3; n++) spoil(await peer.next())
  const again = await peer.next()
  again.end(...yes(again))
  expect(await settledSoon).toEqual(settled)
})

test('waits for a ledger that starts later', async () => {
  const { peer } = await open()
  await peer.stop()
  const client = openLedgerClient({ url: peer.url, service: 'gateway', privateKey })
  const settling = client.settle(settlement('inv_1'))
  const late = await startPeerLedger(peer.port)
  const request = await late.next()
  request.end(...yes(request))
  expect(await settling).toEqual(settled)
  await client.close()
  await late.stop()
})

test('rejects an admission whose budget ends unanswered, and releases it under its id', async () => {
  const { peer, client } = await open()
  const asked = client.admit(admission('inv_1'), { budgetMs: 500 })
  const request = await peer.next()
  await expect(asked).rejects.toThrow(LedgerUnavailable)
  await request.gone // closed: no other item waits for it
  const release = await peer.next()
  expect(release.lines.map(({ item }) => item)).toEqual([{ op: 'release', id: 'inv_1', reason: expect.any(String) }])
  release.cut() // so it is repeated
  const again = await peer.next()
  expect(again.ids).toEqual(['inv_1'])
  again.end({ n: 0, outcome: { kind: 'released' } })
})

test('ignores a late answer to an admission that was given up, and keeps its request open for the others', async () => {
  const { peer, client } = await open()
  const shortBudget = client.admit(admission('inv_1'), { budgetMs: 500 })
  const other = client.admit(admission('inv_2'), longBudget)
  const request = await peer.next()
  await expect(shortBudget).rejects.toMatchObject({ why: 'unavailable' })
  const release = await peer.next()
  expect(release.ids).toEqual(['inv_1'])
  request.end(...yes(request))
  expect(await other).toEqual(admitted('inv_2'))
})

test('does not release an admission whose budget ends before it was sent', async () => {
  const { peer, client } = await open()
  const requests = await fillBatcher(peer, client)
  await expect(client.admit(admission('never'), { budgetMs: 20 })).rejects.toThrow(LedgerUnavailable)
  const next = client.admit(admission('inv_1'), longBudget)
  for (const request of requests) request.end(...yes(request))
  const request = await peer.next()
  expect(request.ids).toEqual(['inv_1'])
  request.end(...yes(request))
  expect(await next).toEqual(admitted('inv_1'))
  expect(peer.unread()).toBe(0)
})

test.each(['overloaded', 'unavailable'] as const)(
  'rejects an admission that the ledger left undecided (%s), without a release',
  async (why) => {
    const { peer, client } = await open()
    const asked = client.admit(admission('inv_1'), longBudget)
    const request = await peer.next()
    request.end({ n: 0, outcome: { kind: 'undecided', why } })
    await expect(asked).rejects.toMatchObject({ why })
    const next = client.settle(settlement('inv_2'))
    const after = await peer.next()
    expect(after.ids).toEqual(['inv_2']) // no release: nothing had happened
    after.end(...yes(after))
    await next
  },
)

test.each([
  { kind: 'undecided', why: 'overloaded' },
  { kind: 'refused', code: 'overloaded', facts: {} },
  { kind: 'running', invocation: 'inv_0' },
] as const)(
  'releases an admission after a cut even if the repeat returns "$kind", because the first copy may be admitted',
  async (outcome) => {
    const { peer, client } = await open()
    const asked = client.admit(admission('inv_1'), longBudget).catch((error: LedgerUnavailable) => error.why)
    const cut = await peer.next()
    cut.cut()
    const again = await peer.next()
    again.end({ n: 0, outcome })
    expect(await asked).toEqual(outcome.kind === 'undecided' ? outcome.why : outcome)
    const release = await peer.next()
    expect(release.lines[0]!.item).toMatchObject({ op: 'release', id: 'inv_1' })
    release.end({ n: 0, outcome: { kind: 'released' } })
  },
)

test('repeats a settlement that the ledger left undecided', async () => {
  const { peer, client } = await open()
  const settling = client.settle(settlement('inv_1', '{"id":"inv_1"}'))
  for (let n = 0; n < 3; n++) {
    const request = await peer.next()
    expect(request.lines[0]!.item).toEqual({ op: 'settle', ...settlement('inv_1', '{"id":"inv_1"}') })
    request.end({ n: 0, outcome: { kind: 'undecided', why: 'unavailable' } })
  }
  const request = await peer.next()
  request.end({ n: 0, outcome: { kind: 'fenced' } })
  expect(await settling).toEqual({ kind: 'fenced' })
})

test('rejects a settlement and a release once their budget ends', async () => {
  const { peer, client } = await open()
  const both = [
    client.settle(settlement('inv_1'), { budgetMs: 500 }),
    client.release({ id: 'inv_2', reason: 'x' }, { budgetMs: 500 }),
  ]
  await peer.next()
  for (const one of both) await expect(one).rejects.toThrow(LedgerUnavailable)
})

test('refuses admissions as overloaded beyond the bounded queue, but never settlements and releases', async () => {
  const { peer, client } = await open({ maxWaiting: 2 })
  for (const id of ['bad_1', 'bad_2']) {
    const bad = client.admit(admission(id), longBudget).catch((error: unknown) => error)
    ;(await peer.next()).reply(400, { error: 'Line 1: no' })
    expect(await bad).toBeInstanceOf(LedgerRejected) // makes the queue no longer
  }
  const requests = await fillBatcher(peer, client)
  const waiting = ['inv_1', 'inv_2'].map((id) => client.admit(admission(id), longBudget))
  await expect(client.admit(admission('inv_3'), longBudget)).rejects.toMatchObject({ why: 'overloaded' })
  const closings = Array.from({ length: 50 }, (_, n) => client.settle(settlement(`set_${n}`)))
  for (const request of requests) request.end(...yes(request))
  const request = await peer.next()
  expect(request.lines).toHaveLength(52)
  request.end(...yes(request))
  expect(await Promise.all([...waiting, ...closings])).toHaveLength(52)
  const free = client.admit(admission('inv_4'), longBudget)
  const after = await peer.next()
  after.end(...yes(after))
  await free
})

test('signs a new token after the ledger refuses one', async () => {
  let nowMs = Date.UTC(2026, 10, 20)
  const { peer, client } = await open({ now: () => (nowMs += 1_000) })
  const refused = peer.refuseChannel(401)
  const settling = client.settle(settlement('inv_1'))
  const first = await refused
  const second = await peer.next()
  expect(second.token).not.toBe(first)
  second.end(...yes(second))
  expect(await settling).toEqual(settled)
})

test('sends later items on the same channel, and closes it when it is not used', async () => {
  const { peer, client } = await open()
  const keys = new Set<string>()
  let last: Received | null = null
  for (let n = 0; n < 3; n++) {
    const settling = client.settle(settlement(`inv_${n}`))
    last = await peer.next()
    keys.add(last.channelKey)
    last.end(...yes(last))
    await settling
  }
  expect(keys.size).toBe(1)
  await client.close()
  await last!.gone
})

test('fails only the item that the ledger does not understand', async () => {
  const { peer, client } = await open()
  const bad = client.admit(admission('bad'), longBudget).catch((error: unknown) => error)
  const good = ['inv_1', 'inv_2'].map((id) => client.admit(admission(id), longBudget))
  const whole = await peer.next()
  whole.reply(400, { error: 'Line 1: no' })
  for (let n = 0; n < 3; n++) {
    const request = await peer.next()
    expect(request.lines).toHaveLength(1)
    if (request.ids[0] === 'bad') request.reply(400, { error: 'Line 1: no' })
    else request.end(...yes(request))
  }
  expect(await bad).toBeInstanceOf(LedgerRejected)
  expect(await Promise.all(good)).toEqual(['inv_1', 'inv_2'].map(admitted))
})

test('waits for undecided items when it closes', async () => {
  const { peer, client } = await open({ closeGraceMs: 60_000 })
  const settling = client.settle(settlement('inv_1'))
  const request = await peer.next()
  const closed = client.close()
  request.end(...yes(request))
  expect(await settling).toEqual(settled)
  await closed
  await expect(client.admit(admission('inv_2'), longBudget)).rejects.toThrow(LedgerUnavailable)
  await expect(client.settle(settlement('inv_2'))).rejects.toThrow(LedgerUnavailable)
})

test('gives up undecided items at the end of the closing grace', async () => {
  const { peer, client } = await open({ closeGraceMs: 10 })
  const settling = client.settle(settlement('inv_1')).catch((error: unknown) => error)
  await peer.next()
  await client.close()
  expect(await settling).toBeInstanceOf(LedgerUnavailable)
})

test('sends every operation as one POST with one JSON object', async () => {
  const { peer, client } = await open()
  const heartbeat = { instance: 'ins_1', service: 'gateway', deadAfterMs: 15_000 } as const
  const funding = { project: 'prj_1', fundingId: 'f1', micro: 5, fundedBy: 'usr_1' }
  const correction = { project: 'prj_1', correctionId: 'c1', micro: -5, reason: 'twice', correctedBy: 'usr_1' }
  const corrected = { kind: 'corrected', fresh: true, micro: -5, reason: 'twice' } as const
  const question = { keyHash: 'ab'.repeat(32), selector: null }
  const wallet = { fundedMicro: 5, reservedMicro: 0, settledMicro: 0, availableMicro: 5 }
  const table = [
    [client.models(question), '/models', question, { entries: [] }, { entries: [] }],
    [client.heartbeat(heartbeat), '/instances/heartbeat', heartbeat, { alive: true }, { alive: true }],
    [client.endInstance({ instance: 'ins_1' }), '/instances/end', { instance: 'ins_1' }, {}, {}],
    [client.fund(funding), '/fundings', funding, { fresh: true, micro: 5 }, { fresh: true, micro: 5 }],
    [client.correct(correction), '/corrections', correction, corrected, corrected],
    [client.barrier({ projects: ['prj_1'] }), '/barrier', { projects: ['prj_1'] }, {}, {}],
    [client.wallet({ project: 'prj_1' }), '/wallets/read', { project: 'prj_1' }, wallet, wallet],
  ] as const
  for (const _ of table) {
    const request = await peer.next()
    const row = table.find(([, path]) => path === request.path)!
    expect(request.question).toEqual(row[2])
    request.reply(200, row[3])
  }
  for (const [answer, , , , expected] of table) expect(await answer).toEqual(expected)
})

test('retries an operation that is cut or answered with 503, until its budget ends', async () => {
  const { peer, client } = await open()
  const asked = client.wallet({ project: 'prj_1' }, longBudget)
  ;(await peer.next()).cut()
  ;(await peer.next()).reply(503, { error: 'starting' })
  ;(await peer.next()).reply(200, { fundedMicro: 0 })
  expect(await asked).toEqual({ fundedMicro: 0 })
  await expect(client.wallet({ project: 'prj_1' }, { budgetMs: 20 })).rejects.toThrow(LedgerUnavailable)
})

test('does not retry an operation that the ledger rejects', async () => {
  const { peer, client } = await open()
  const asked = client.barrier({ projects: [] })
  ;(await peer.next()).reply(400, { error: 'projects: too few' })
  await expect(asked).rejects.toThrow(/rejected \/barrier with 400/)
})

test('accepts a base URL with a path', async () => {
  const { peer } = await open()
  const client = openLedgerClient({ url: `${peer.url}/inner/`, service: 'gateway', privateKey })
  const asked = client.wallet({ project: 'prj_1' })
  const question = await peer.next()
  expect(question.path).toBe('/inner/wallets/read')
  question.reply(200, {})
  await asked
  const settling = client.settle(settlement('inv_1'))
  const items = await peer.next()
  expect(items.path).toBe('/inner/items')
  items.end(...yes(items))
  await settling
  await client.close()
})
