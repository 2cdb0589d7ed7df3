import { expect, onTestFinished, test } from 'vitest'
import { privateKey } from './fixtures/keys.ts'
import { admission, admitted, settled, settlement } from './fixtures/items.ts'
import { startPeerLedger } from './fixtures/peer-ledger.ts'
import { openLedgerClient } from './ledger-client.ts'

// A ledger replica that can't say whether an admission is written releases nothing itself: only the caller knows
// whether another replica admitted it meanwhile.

const unknown = { kind: 'undecided', why: 'unknown' } as const
const refused = { kind: 'refused', code: 'unavailable', facts: {} } as const

async function open() {
  const peer = await startPeerLedger()
  const client = openLedgerClient({ url: peer.url, service: 'gateway', privateKey, closeGraceMs: 0 })
  onTestFinished(async () => {
    await client.close()
    await peer.stop()
  })
  return { peer, client }
}

test('an admission whose outcome the ledger does not know is refused as unavailable and released once', async () => {
  const { peer, client } = await open()
  const asked = client.admit(admission('inv_1'), { budgetMs: 60_000 })
  const request = await peer.next()
  request.end({ n: 0, outcome: unknown })
  await expect(asked).rejects.toMatchObject({ why: 'unavailable' })
  const release = await peer.next()
  expect(release.lines.map(({ item }) => item)).toEqual([{ op: 'release', id: 'inv_1', reason: expect.any(String) }])
  release.end({ n: 0, outcome: { kind: 'released' } })
  await expectNothingMore()

  async function expectNothingMore() {
    const next = client.settle(settlement('inv_2'))
    const after = await peer.next()
    expect(after.ids).toEqual(['inv_2'])
    after.end({ n: 0, outcome: settled })
    await next
    expect(peer.unread()).toBe(0)
  }
})

test('an admission with an unknown outcome after a cut is released only once', async () => {
  const { peer, client } = await open()
  const asked = client.admit(admission('inv_1'), { budgetMs: 60_000 }).catch((error: unknown) => error)
  ;(await peer.next()).cut()
  const again = await peer.next()
  again.end({ n: 0, outcome: unknown })
  expect(await asked).toMatchObject({ why: 'unavailable' })
  const release = await peer.next()
  expect(release.ids).toEqual(['inv_1'])
  release.end({ n: 0, outcome: { kind: 'released' } })
  const next = client.settle(settlement('inv_2'))
  const after = await peer.next()
  expect(after.ids).toEqual(['inv_2'])
  after.end({ n: 0, outcome: settled })
  await next
})

test('an admission is not repeated under an id that is being released', async () => {
  const { peer, client } = await open()
  const asked = client.admit(admission('inv_1'), { budgetMs: 60_000 })
  ;(await peer.next()).cut()
  const again = await peer.next()
  again.end({ n: 0, outcome: refused })
  expect(await asked).toEqual(refused)
  const repeated = client.admit(admission('inv_1'), { budgetMs: 60_000 }).catch((error: unknown) => error)
  const release = await peer.next()
  expect(release.lines.map(({ item }) => item.op)).toEqual(['release'])
  expect(await repeated).toMatchObject({ why: 'unavailable' })
  release.end({ n: 0, outcome: { kind: 'released' } })
})

test('an admission that another replica admits after a cut is kept and not released', async () => {
  const { peer, client } = await open()
  const asked = client.admit(admission('inv_1'), { budgetMs: 60_000 })
  ;(await peer.next()).cut()
  const again = await peer.next()
  again.end({ n: 0, outcome: admitted('inv_1') })
  expect(await asked).toEqual(admitted('inv_1'))
  const next = client.settle(settlement('inv_1'))
  const after = await peer.next()
  expect(after.lines.map(({ item }) => item.op)).toEqual(['settle'])
  after.end({ n: 0, outcome: settled })
  await next
})

test('a settlement whose outcome the ledger does not know is repeated', async () => {
  const { peer, client } = await open()
  const settling = client.settle(settlement('inv_1'))
  ;(await peer.next()).end({ n: 0, outcome: unknown })
  ;(await peer.next()).end({ n: 0, outcome: settled })
  expect(await settling).toEqual(settled)
})
