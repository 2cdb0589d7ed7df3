import { expect, onTestFinished, test } from 'vitest'
import { privateKey } from './fixtures/keys.ts'
import { admitted, completion, nodeAdmission, nodeClaim, settled, settlement } from './fixtures/items.ts'
import { startPeerLedger, type PeerLedger } from './fixtures/peer-ledger.ts'
import { openLedgerClient, type LedgerClient, type LedgerClientOptions } from './ledger-client.ts'
import { LedgerUnavailable } from './call-operation.ts'

// A worker's items about nodes: claims and admissions may be refused undecided, completions are repeated, and none of
// them is ever released, because what they hold ends with the lease.

const longBudget = { budgetMs: 60_000 }
const completed = { kind: 'completed' } as const

async function open(options: Partial<LedgerClientOptions> = {}) {
  const peer = await startPeerLedger()
  const client = openLedgerClient({
    url: peer.url,
    service: 'worker',
    privateKey,
    closeGraceMs: 0,
    ...options,
  })
  onTestFinished(async () => {
    await client.close()
    await peer.stop()
  })
  return { peer, client }
}

/** Sends a settlement and expects it to be the next item at the ledger: nothing was sent before it. */
async function expectNothingBefore(peer: PeerLedger, client: LedgerClient): Promise<void> {
  const settling = client.settle(settlement('inv_next'))
  const request = await peer.next()
  expect(request.ids).toEqual(['inv_next'])
  request.end({ n: 0, outcome: settled })
  await settling
}

test('sends a claim, an admission and a completion in one request, completions first', async () => {
  const { peer, client } = await open()
  const all = [
    client.claim(nodeClaim, longBudget),
    client.admitNode(nodeAdmission('inv_1'), longBudget),
    client.complete(completion),
  ]
  const request = await peer.next()
  expect(request.lines.map(({ item }) => item)).toEqual([
    { op: 'complete', ...completion },
    { op: 'claim', ...nodeClaim },
    { op: 'admit-node', ...nodeAdmission('inv_1') },
  ])
  request.end(
    { n: 0, outcome: completed },
    { n: 1, outcome: { kind: 'nothing-to-do' } },
    { n: 2, outcome: admitted('inv_1') },
  )
  expect(await Promise.all(all)).toEqual([{ kind: 'nothing-to-do' }, admitted('inv_1'), completed])
})

const openings = {
  'a claim': (client: LedgerClient, budgetMs: number) => client.claim(nodeClaim, { budgetMs }),
  'an admission': (client: LedgerClient, budgetMs: number) => client.admitNode(nodeAdmission('inv_1'), { budgetMs }),
}
for (const [what, ask] of Object.entries(openings)) {
  test.each(['overloaded', 'unavailable', 'unknown'] as const)(
    `${what} that was left undecided fails with no release: %s`,
    async (why) => {
      const { peer, client } = await open()
      const asked = ask(client, 60_000).catch((error: unknown) => error)
      ;(await peer.next()).end({ n: 0, outcome: { kind: 'undecided', why } })
      expect(await asked).toMatchObject({ why: why === 'overloaded' ? 'overloaded' : 'unavailable' })
      await expectNothingBefore(peer, client)
    },
  )

  test(`${what} is resent after a cut, and gets the outcome of the repeat`, async () => {
    const { peer, client } = await open()
    const asked = ask(client, 60_000)
    ;(await peer.next()).cut()
    ;(await peer.next()).end({ n: 0, outcome: { kind: 'instance-unknown' } })
    expect(await asked).toEqual({ kind: 'instance-unknown' })
    await expectNothingBefore(peer, client)
  })

  test(`${what} whose budget ends unanswered fails, and nothing is released`, async () => {
    const { peer, client } = await open()
    const asked = ask(client, 500).catch((error: unknown) => error)
    const request = await peer.next()
    expect(await asked).toBeInstanceOf(LedgerUnavailable)
    await request.gone
    await expectNothingBefore(peer, client)
  })

  test(`${what} beyond the bounded queue is refused at once`, async () => {
    const { client } = await open({ maxWaiting: 0 })
    await expect(ask(client, 60_000)).rejects.toMatchObject({ why: 'overloaded' })
  })
}

test('an admission of a node that is refused after a cut is not released and may be repeated', async () => {
  const { peer, client } = await open()
  const asked = client.admitNode(nodeAdmission('inv_1'), longBudget)
  ;(await peer.next()).cut()
  const refused = {
    kind: 'refused',
    code: 'insufficient_budget',
    facts: { reservedMicro: 100, neededMicro: 1, availableMicro: 0, affordableMaxTokens: 0 },
  } as const
  ;(await peer.next()).end({ n: 0, outcome: refused })
  expect(await asked).toEqual(refused)
  const again = client.admitNode(nodeAdmission('inv_1'), longBudget)
  const request = await peer.next()
  expect(request.ids).toEqual(['inv_1'])
  request.end({ n: 0, outcome: admitted('inv_1') })
  expect(await again).toEqual(admitted('inv_1'))
})

test('a completion is repeated until it is decided, even if the queue is full', async () => {
  const { peer, client } = await open({ maxWaiting: 0 })
  const asked = client.complete(completion)
  ;(await peer.next()).end({ n: 0, outcome: { kind: 'undecided', why: 'overloaded' } })
  ;(await peer.next()).cut()
  ;(await peer.next()).end({ n: 0, outcome: { kind: 'undecided', why: 'unknown' } })
  ;(await peer.next()).end({ n: 0, outcome: { kind: 'fenced' } })
  expect(await asked).toEqual({ kind: 'fenced' })
})

test('a completion fails when its budget ends or the client closes', async () => {
  const { peer, client } = await open()
  const short = client.complete(completion, { budgetMs: 500 })
  const endless = client.complete(completion).catch((error: unknown) => error)
  await peer.next()
  await expect(short).rejects.toThrow(LedgerUnavailable)
  await client.close()
  expect(await endless).toBeInstanceOf(LedgerUnavailable)
})
