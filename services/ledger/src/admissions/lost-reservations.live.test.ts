import { Client } from 'pg'
import { describe, expect } from 'vitest'
import type { Sql } from '@gateway/database/client'
import type { AdmitOutcome } from '@gateway/ledger-protocol/ledger-outcomes'
import { findingsOf, openTenant, test as ledgerTest, walletOf } from '../fixtures/ledger-test.ts'
import { keepLocked } from '../fixtures/keep-locked.ts'
import { runBatch } from './run-batch.ts'
import type { AdmissionItem, ClosingItem, Waiting } from './waiting-items.ts'
import { openReceipts, type Receipt, restoreReservation } from './receipts.ts'
import { openReplica } from '../fixtures/replica.ts'
import { openFixture } from '@gateway/testbed/fixture'
import { ask } from '@gateway/testbed/ask'

// Admissions that were answered before they were on disk, and whose reservation Postgres has lost (money §4.5). An id
// that was never admitted is the same to the database as one that was lost, so most tests invent receipts.

const DAY_MS = 24 * 3_600_000

const test = ledgerTest
  .extend('receipts', { scope: 'file' }, ({ replica }) => openReceipts(replica.reads))
  .extend('lost', ({ receipts, replica, tenant }) => async (more: Partial<Receipt> = {}) => {
    const { id } = replica.item(tenant.key, tenant.product)
    const lost: Receipt = {
      tag: null,
      id,
      project: tenant.project.id,
      key: tenant.key.id,
      product: tenant.product,
      instance: replica.instance,
      micro: 100,
      outputCap: 100,
      price: ['0', '1000000', '0', null, null, null],
      admittedMs: Date.now(),
      ...more,
    }
    return { id: lost.id, receipt: receipts.issue(lost, lost.admittedMs) }
  })

const usage = (completionTokens: number) => ({ promptTokens: 10, completionTokens })

describe('a receipt', () => {
  test('is in the admission of a direct call without an idempotency key', async ({ replica, tenant, receipts }) => {
    const item = replica.item(tenant.key, tenant.product)
    const { receipt } = admitted(await replica.admit(item))
    expect(receipts.read(receipt!, Date.now())).toMatchObject({
      id: item.id,
      project: tenant.project.id,
      key: tenant.key.id,
      product: tenant.product,
      instance: replica.instance,
      micro: 100,
      outputCap: 100,
      price: ['0', '1000000', '0', null, null, null],
    })
    const crowd = await Promise.all(
      Array.from({ length: 5 }, () => replica.admit(replica.item(tenant.key, tenant.product))),
    )
    for (const one of crowd) expect(admitted(one).receipt).toBeDefined()
    const idempotency = { key: 'a key', fingerprint: 'ab'.repeat(32) }
    expect(admitted(await replica.admit(replica.item(tenant.key, tenant.product, { idempotency }))).receipt).toBe(
      undefined,
    )
  })

  test('is refused if it was changed, or is a day old', async ({ lost, receipts }) => {
    const { receipt } = await lost({ admittedMs: 1_000_000_000_000 })
    expect(receipts.read(receipt, 1_000_000_000_000 + DAY_MS)).not.toBe(null)
    expect(receipts.read(receipt, 1_000_000_000_001 + DAY_MS)).toBe(null)
    const [first, ...others] = receipt.split('')
    for (const wrong of ['', ' ', receipt.slice(1), `${first}x${others.slice(1).join('')}`, receipt.slice(0, -1)])
      expect(receipts.read(wrong, 1_000_000_000_000)).toBe(null)
  })
})

test('no text of a gateway passes for other fields of a receipt', async ({ lost, receipts }) => {
  const id = 'inv_1","prj_other","key_other'
  const { receipt } = await lost({ id, instance: 'ins_1 999 "],' })
  expect(receipts.read(receipt, Date.now())).toMatchObject({ id, instance: 'ins_1 999 "],', micro: 100 })
})

describe('a settlement whose reservation was lost', () => {
  test('restores it and charges the usage, once', async ({ replica, other, tenant, lost }) => {
    const { id, receipt } = await lost()
    const settled = await Promise.all([replica, other].map((one) => one.settle(id, usage(30), null, receipt)))
    expect(settled).toEqual([
      { kind: 'settled', chargedMicro: 30 },
      { kind: 'settled', chargedMicro: 30 },
    ])
    expect(await replica.settle(id, usage(50), null, receipt)).toEqual({ kind: 'settled', chargedMicro: 30 })
    expect(await walletOf(replica, tenant.project.id)).toMatchObject({ reserved: 0n, settled: 30n })
    expect(await findingsOf(replica, tenant.project.id)).toEqual([])
  })

  test('charges no more than the wallet has left, and writes off the rest', async ({ replica, fixture, lost }) => {
    const poor = await openTenant(fixture, 150n)
    const { id, receipt } = await lost({ project: poor.project.id, key: poor.key.id, product: poor.product })
    await replica.admit(replica.item(poor.key, poor.product)) // reserves 100 of the 150
    expect(await replica.settle(id, usage(80), null, receipt)).toEqual({ kind: 'settled', chargedMicro: 50 })
    expect(await walletOf(replica, poor.project.id)).toMatchObject({ reserved: 100n, settled: 50n })
    expect(await replica.reads.prisma.writeOff.findMany({ where: { reservation: id } })).toMatchObject([
      { kind: 'excess', micro: 30n },
    ])
    expect(await findingsOf(replica, poor.project.id)).toEqual([])
  })

  test('charges no more than the limit of its key has left', async ({ replica, fixture, tenant, lost }) => {
    const { project, owners, product } = tenant
    const key = await fixture.key({ project, by: owners.owner, limit: { micro: 120n, reset: 'daily' } })
    await replica.admit(replica.item(key, product))
    const { id, receipt } = await lost({ key: key.id })
    expect(await replica.settle(id, usage(80), null, receipt)).toEqual({ kind: 'settled', chargedMicro: 20 })
    expect(await findingsOf(replica, project.id)).toEqual([])
  })

  test('charges nothing without a valid receipt for its own ID', async ({ replica, tenant, lost }) => {
    const [one, another] = [await lost(), await lost()]
    const old = await lost({ admittedMs: Date.now() - DAY_MS - 60_000 })
    expect(await replica.settle(one.id)).toEqual({ kind: 'unknown' })
    expect(await replica.settle(one.id, usage(1), null, another.receipt)).toEqual({ kind: 'unknown' })
    expect(await replica.settle(one.id, usage(1), null, `${one.receipt.slice(0, -2)}__`)).toEqual({ kind: 'unknown' })
    expect(await replica.settle(old.id, usage(1), null, old.receipt)).toEqual({ kind: 'unknown' })
    expect(await walletOf(replica, tenant.project.id)).toMatchObject({ reserved: 0n, settled: 0n })
  })

  test('is written off if the reservation was not lost but released', async ({ replica, tenant }) => {
    const item = replica.item(tenant.key, tenant.product)
    const { receipt } = admitted(await replica.admit(item))
    await replica.release(item.id)
    expect(await replica.settle(item.id, usage(30), null, receipt)).toEqual({ kind: 'fenced' })
    expect(await walletOf(replica, tenant.project.id)).toMatchObject({ reserved: 0n, settled: 0n })
  })

  test('is charged although its project was deleted meanwhile', async ({ replica, fixture, lost }) => {
    const gone = await openTenant(fixture)
    const { id, receipt } = await lost({ project: gone.project.id, key: gone.key.id, product: gone.product })
    await fixture.run('DELETE FROM control.keys WHERE id = $1', [gone.key.id])
    expect(await replica.settle(id, usage(30), null, receipt)).toEqual({ kind: 'settled', chargedMicro: 30 })
    expect(await findingsOf(replica, gone.project.id)).toEqual([])
  })

  test('is not overtaken by the deadline of the restored reservation', async ({ replica, lost, receipts }) => {
    const { id, receipt } = await lost({ admittedMs: Date.now() - 3_600_000 })
    expect(await restoreReservation(replica.reads, receipts.read(receipt, Date.now())!)).toBe(true)
    expect(await replica.expire(id)).toEqual({ kind: 'alive' })
    expect(await replica.settle(id, usage(30), null, receipt)).toEqual({ kind: 'settled', chargedMicro: 30 })
  })

  test('stays undecided while another session has its wallet locked', async ({ database, replica, tenant, lost }) => {
    await replica.admit(replica.item(tenant.key, tenant.product))
    const { id, receipt } = await lost()
    const unlock = await keepLocked(database.adminUrl, 'SELECT FROM money.wallets WHERE project = $1 FOR UPDATE', [
      tenant.project.id,
    ])
    expect(await replica.settle(id, usage(30), null, receipt)).toMatchObject({ kind: 'undecided' })
    await unlock()
    expect(await replica.settle(id, usage(30), null, receipt)).toEqual({ kind: 'settled', chargedMicro: 30 })
  })
})

// Shows the rule itself, B11 of run_batch, without a kill for each combination.
test('a batch waits for the disk if it has a settlement or an admission under an idempotency key', async ({
  database,
  replica,
  tenant,
}) => {
  const client = new Client({ connectionString: database.ledgerUrl })
  await client.connect()
  const sql: Sql = { query: async (text, values = []) => (await client.query(text, [...values])).rows }
  const waits = async (admissions: AdmissionItem[], settles: boolean) => {
    const held = replica.item(tenant.key, tenant.product)
    await replica.admit(held)
    const closing: ClosingItem = { op: 'settle', id: held.id, usage: { ...usage(1), estimated: false }, answer: null }
    await client.query('BEGIN')
    const batch = { admissions: admissions.map(waiting), closings: settles ? [waiting(closing)] : [] }
    const { closings } = await runBatch(sql, batch, false)
    expect(closings.map(({ outcome }) => outcome)).toEqual(settles ? ['settled'] : [])
    const { rows } = await client.query('SHOW synchronous_commit')
    await client.query('ROLLBACK')
    return rows[0].synchronous_commit === 'on'
  }
  const item = (more = {}) => replica.item(tenant.key, tenant.product, more)
  const keyed = { idempotency: { key: 'a key', fingerprint: 'ab'.repeat(32) } }
  try {
    for (const few of [() => [item()], () => [item(), item()]]) {
      expect(await waits(few(), false)).toBe(false)
      expect(await waits(few(), true)).toBe(true)
    }
    expect(await waits([item(keyed)], false)).toBe(true)
    expect(await waits([item(), item(keyed)], false)).toBe(true)
    expect(await waits([item({ model: 'no/model' })], true)).toBe(true) // left to run_batch, after the settlement
  } finally {
    await client.end()
  }
})

describe('kill -9 of Postgres after admissions', () => {
  // run_one decides batches of one, run_batch the others.
  test.for([1, 3])(
    'in batches of %i loses those without an idempotency key, and each is charged in full all the same',
    async (size, { postgresServer, onTestFinished }) => {
      // Without the background writer, only a commit that waits for the disk brings the log there.
      await ask(postgresServer.adminUrl, 'ALTER SYSTEM SET wal_writer_delay = 10000')
      await ask(postgresServer.adminUrl, 'SELECT pg_reload_conf()')
      const fixture = await openFixture(postgresServer.adminUrl)
      const { key, product, project } = await openTenant(fixture)
      const before = await openReplica(postgresServer.ledgerUrl)
      const some = (more: (n: number) => object) =>
        Array.from({ length: size }, (_, n) => before.item(key, product, more(n)))
      const early = some(() => ({}))
      const keyed = some((n) => ({ idempotency: { key: `key ${n}`, fingerprint: 'ab'.repeat(32) } }))
      const late = some(() => ({}))
      const receipts = new Map<string, string | undefined>()
      for (const items of [early, keyed, late]) {
        const outcomes = await Promise.all(items.map((item) => before.admit(item)))
        for (const [n, { id }] of items.entries()) receipts.set(id, admitted(outcomes[n]!).receipt)
      }
      await Promise.all([fixture.close(), postgresServer.kill(), before.close()].map((end) => end.catch(() => {})))
      await postgresServer.restart()

      const after = await openReplica(postgresServer.ledgerUrl)
      onTestFinished(after.close)
      const open = await after.reads.prisma.reservation.findMany({ where: { project: project.id } })
      // The keyed admissions were on disk, and so was all that was committed before them.
      const ids = (items: { id: string }[]) => items.map(({ id }) => id).toSorted()
      expect(ids(open)).toEqual(ids([...early, ...keyed]))
      for (const [id, receipt] of receipts)
        expect(await after.settle(id, usage(20), null, receipt)).toEqual({ kind: 'settled', chargedMicro: 20 })
      expect(await walletOf(after, project.id)).toMatchObject({ reserved: 0n, settled: BigInt(60 * size) })
      expect(await findingsOf(after, project.id)).toEqual([])
    },
  )
})

function waiting<T extends AdmissionItem | ClosingItem>(item: T): Waiting<T> {
  return { item, sinceMs: 0, dropAtMs: Infinity, deferrals: 0, outcomeUnknown: false, answer: () => {} }
}

function admitted(outcome: AdmitOutcome) {
  if (outcome.kind !== 'admitted') throw new Error(`not admitted: ${JSON.stringify(outcome)}`)
  return outcome
}
