import { randomBytes } from 'node:crypto'
import { describe, expect } from 'vitest'
import { countCodes, openReplica, type RunBatch } from '../fixtures/replica.ts'
import { openTenant, test } from '../fixtures/ledger-test.ts'
import { callerOf } from './waiting-items.ts'

// Keys whose project is not known: invented keys, and real keys on their first call through this replica.

const invented = () => ({ keyHash: randomBytes(32).toString('hex') })

/** Records the keys in each batch. */
function noted() {
  const batches: Set<string>[] = []
  const around =
    (run: RunBatch): RunBatch =>
    (database, batch, waitForLocks) => {
      batches.push(new Set(batch.admissions.map(({ item }) => callerOf(item))))
      return run(database, batch, waitForLocks)
    }
  return { batches, around }
}

describe('a flood of invented keys [key_invalid]', () => {
  test('does not keep a known key out of the next batch, nor a new key out of the queue', async ({
    database,
    fixture,
    tenant,
  }) => {
    const { batches, around } = noted()
    const replica = await openReplica(database.ledgerUrl, { around, limits: { batchItems: 64 } })
    await replica.admit(replica.item(tenant.key, tenant.product))
    const flood = Array.from({ length: 2_000 }, () =>
      replica.admit(replica.item(tenant.key, tenant.product, invented())),
    )
    const fresh = await openTenant(fixture)
    const start = batches.length
    const known = Array.from({ length: 40 }, () => replica.admit(replica.item(tenant.key, tenant.product)))
    const first = replica.admit(replica.item(fresh.key, fresh.product))
    expect(countCodes(await Promise.all(known))).toEqual({ admitted: 40 })
    const inFlight = 1
    expect(batches.slice(start).findLastIndex((keys) => keys.has(tenant.key.hash))).toBeLessThanOrEqual(inFlight)
    expect(countCodes([await first])).toEqual({ admitted: 1 })
    expect(countCodes(await Promise.all(flood))).toEqual({ key_invalid: 2_000 })
    await replica.close()
  })

  test('leaves a quarter of the admission queue to known keys', async ({ database, tenant }) => {
    const replica = await openReplica(database.ledgerUrl, { limits: { batchItems: 64, waitingAdmissions: 1_000 } })
    await replica.admit(replica.item(tenant.key, tenant.product))
    const flood = Array.from({ length: 2_000 }, () =>
      replica.admit(replica.item(tenant.key, tenant.product, invented())),
    )
    expect(countCodes([await replica.admit(replica.item(tenant.key, tenant.product))])).toEqual({ admitted: 1 })
    expect(countCodes(await Promise.all(flood))).toEqual({ key_invalid: 750, undecided: 1_250 })
    await replica.close()
  })
})

describe('many real keys on their first call', () => {
  test('are all admitted while their project is busy with another key', async ({ database, fixture, tenant }) => {
    const { batches, around } = noted()
    const replica = await openReplica(database.ledgerUrl, { around, limits: { batchItems: 32 } })
    await replica.admit(replica.item(tenant.key, tenant.product))
    const keys = await Promise.all(
      Array.from({ length: 24 }, () => fixture.key({ project: tenant.project, by: tenant.owners.owner })),
    )
    const start = batches.length
    const busy = Array.from({ length: 600 }, () => replica.admit(replica.item(tenant.key, tenant.product)))
    const first = keys.flatMap((key) =>
      Array.from({ length: 10 }, () => replica.admit(replica.item(key, tenant.product))),
    )
    expect(countCodes(await Promise.all(first))).toEqual({ admitted: 240 })
    expect(countCodes(await Promise.all(busy))).toEqual({ admitted: 600 })
    // A batch takes eight new keys, so the last of the 24 gets its first turn in the third batch.
    const served = keys.map(({ hash }) => batches.slice(start).findIndex((batch) => batch.has(hash)))
    expect(Math.max(...served)).toBeLessThanOrEqual(3)
    await replica.close()
  })
})
