import { describe, expect } from 'vitest'
import type { Outcome } from '../admissions/waiting-items.ts'
import { findingsOf, walletOf } from '../fixtures/ledger-test.ts'
import { openReplica } from '../fixtures/replica.ts'
import { test as clockTest } from '../fixtures/set-clock.ts'
import { openReservationReaper } from './reservation-reaper.ts'

// The tests advance the clock.

const DEADLINE_MS = 330_000
const LATE_MS = DEADLINE_MS + 1_000
const TURN_MS = 2_000
const GRACE_TURNS = 15

const test = clockTest
  .extend('replica', { scope: 'file' }, async ({ database, clock: _ }, { onCleanup }) => {
    const replica = await openReplica(database.ledgerUrl)
    onCleanup(replica.close)
    return replica
  })
  .extend('reserved', async ({ replica, tenant, fixture }) => {
    const items = Array.from({ length: 20 }, () => replica.item(tenant.key, tenant.product))
    for (const outcome of await Promise.all(items.map((item) => replica.admit(item))))
      expect(outcome.kind).toBe('admitted')
    const count = async (table: 'reservations' | 'attempts' | 'write_offs') => {
      const column = table === 'write_offs' ? 'reservation' : 'id'
      const { rowCount } = await fixture.run(`SELECT FROM money.${table} WHERE ${column} = ANY ($1)`, [
        items.map(({ id }) => id),
      ])
      return rowCount
    }
    return { items, count }
  })

describe('a reservation past its deadline', () => {
  test('can still be settled after an outage longer than the deadline if its gateway is alive', async ({
    clock,
    replica,
    tenant,
    reserved,
  }) => {
    const reaper = openReservationReaper(replica, { graceMs: 30_000 })
    for (let n = 0; n < GRACE_TURNS + 1; n++) {
      await clock.turn(TURN_MS)
      await reaper.runOnce()
    }
    await clock.turn(LATE_MS) // an outage: no settlements, no reaper
    expect(await reaper.runOnce()).toEqual({ expired: 0 })
    for (let n = 0; n < GRACE_TURNS - 1; n++) {
      await clock.turn(TURN_MS)
      expect(await reaper.runOnce()).toEqual({ expired: 0 })
    }
    const settled = await Promise.all(reserved.items.map(({ id }) => replica.settle(id)))
    expect(settled.map(({ kind }: Outcome) => kind)).toEqual(reserved.items.map(() => 'settled'))
    await clock.turn(TURN_MS)
    expect(await reaper.runOnce()).toEqual({ expired: 0 })
    expect(await reserved.count('write_offs')).toBe(0)
    expect(await walletOf(replica, tenant.project.id)).toMatchObject({ reserved: 0n, settled: 200n })
    expect(await findingsOf(replica, tenant.project.id)).toEqual([])
  })

  test('is released half a minute later if it is not settled, even if its gateway is alive', async ({
    clock,
    replica,
    tenant,
    reserved,
  }) => {
    const reaper = openReservationReaper(replica, { graceMs: 30_000 })
    await reaper.runOnce()
    for (let ms = 0; ms < DEADLINE_MS + GRACE_TURNS * TURN_MS; ms += TURN_MS) {
      expect(await reserved.count('reservations')).toBe(20)
      await clock.turn(TURN_MS)
      await reaper.runOnce()
    }
    expect(await reserved.count('reservations')).toBe(0)
    expect(await walletOf(replica, tenant.project.id)).toMatchObject({ reserved: 0n, settled: 0n })
  })

  test('is released at once if its gateway has ended', async ({ clock, replica, fixture, reserved }) => {
    await clock.turn(LATE_MS)
    await fixture.run('UPDATE money.instances SET ended_at = clock_timestamp() WHERE id = $1', [replica.instance])
    expect((await openReservationReaper(replica, { graceMs: 30_000 }).runOnce()).expired).toBe(20)
    await fixture.run('UPDATE money.instances SET ended_at = NULL WHERE id = $1', [replica.instance])
    expect(await reserved.count('reservations')).toBe(0)
  })

  test('is kept while settlements cannot be written, even if the database responds', async ({
    clock,
    database,
    reserved,
  }) => {
    const stuck = await openReplica(database.ledgerUrl, {
      around: () => () => Promise.reject(new Error('the connection is silent')),
      now: stepping(),
    })
    const reaper = openReservationReaper(stuck, { graceMs: 30_000 })
    await clock.turn(LATE_MS)
    for (let n = 0; n < 2 * GRACE_TURNS; n++) {
      await clock.turn(TURN_MS)
      expect(await reaper.runOnce()).toEqual({ expired: 0 })
    }
    expect(await reserved.count('reservations')).toBe(20)
    await stuck.close()
  })
})

/** Returns a clock that advances by a second with every read, so that items are given up soon. */
function stepping(): () => number {
  let ms = 0
  return () => (ms += 1_000)
}
