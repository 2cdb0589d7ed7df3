import { describe, expect } from 'vitest'
import { codeOf, countCodes, openReplica, type RunBatch } from '../fixtures/replica.ts'
import { findingsOf, openTenant, test, walletOf } from '../fixtures/ledger-test.ts'

// Copies of one call: many concurrent admissions under one idempotency key. They must not cost a batch each.

const keyed = (key: string, body = 'a') => ({ idempotency: { key, fingerprint: body.repeat(64) } })

/** Counts all batches, and the batches that wait for locked wallets. */
function counted() {
  const seen = { batches: 0, waitForLocks: 0 }
  const around =
    (run: RunBatch): RunBatch =>
    (database, batch, waitForLocks) => {
      seen.batches++
      if (waitForLocks) seen.waitForLocks++
      return run(database, batch, waitForLocks)
    }
  return { seen, around }
}

describe('concurrent admissions under one idempotency key', () => {
  test('1,000 copies on an empty wallet are refused in two batches [insufficient_budget]', async ({
    database,
    fixture,
  }) => {
    const { seen, around } = counted()
    const replica = await openReplica(database.ledgerUrl, { around })
    const poor = await openTenant(fixture, 0n)
    const outcomes = await Promise.all(
      Array.from({ length: 1_000 }, () => replica.admit(replica.item(poor.key, poor.product, keyed('copies-1')))),
    )
    expect(countCodes(outcomes)).toEqual({ insufficient_budget: 1_000 })
    expect(seen).toEqual({ batches: 2, waitForLocks: 0 })
    await replica.close()
  })

  test('copies over the key’s limit get identical refusals that state the missing amount [key_limit]', async ({
    fixture,
    replica,
    tenant,
  }) => {
    const key = await fixture.key({
      project: tenant.project,
      by: tenant.owners.owner,
      limit: { micro: 99n, reset: 'daily' },
    })
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, () => replica.admit(replica.item(key, tenant.product, keyed('copies-2')))),
    )
    expect(countCodes(outcomes)).toEqual({ key_limit: 50 })
    expect(new Set(outcomes.map((outcome) => JSON.stringify(outcome)))).toHaveLength(1)
    expect(outcomes[0]).toMatchObject({ facts: { limitMicro: 99, reservedMicro: 0, neededMicro: 100 } })
  })

  test('copies of an admitted call are decided in the next batch, which does not wait for locks', async ({
    database,
    fixture,
  }) => {
    const { seen, around } = counted()
    const replica = await openReplica(database.ledgerUrl, { around })
    const tenant = await openTenant(fixture)
    const outcomes = await Promise.all(
      Array.from({ length: 500 }, () => replica.admit(replica.item(tenant.key, tenant.product, keyed('copies-3')))),
    )
    expect(countCodes(outcomes)).toEqual({ admitted: 1, running: 499 })
    expect(seen).toEqual({ batches: 2, waitForLocks: 0 })
    expect((await walletOf(replica, tenant.project.id)).reserved).toBe(100n)
    await replica.close()
  })

  test('a copy deferred ten times never makes a batch wait for locks', async ({ database, tenant }) => {
    const seen: boolean[] = []
    const stubborn =
      (run: RunBatch): RunBatch =>
      async (database, batch, waitForLocks) => {
        seen.push(waitForLocks)
        if (seen.length > 10) return run(database, batch, waitForLocks)
        return { admissions: [{ code: 'copy', facts: {} }], closings: [], products: {}, answersLost: 0, atMs: 0 }
      }
    const replica = await openReplica(database.ledgerUrl, { around: stubborn })
    expect(codeOf(await replica.admit(replica.item(tenant.key, tenant.product, keyed('copies-4'))))).toBe('admitted')
    expect(seen).toEqual(Array.from({ length: 11 }, () => false))
    await replica.close()
  })

  test('a refused call does not claim the key: a later body that fits is admitted and owns the key from then on', async ({
    fixture,
    replica,
  }) => {
    const tenant = await openTenant(fixture, 60n)
    const [large, small] = [keyed('copies-5', 'a'), keyed('copies-5', 'b')]
    const asked = [large, { ...small, maxTokens: 50 }, large, { ...small, maxTokens: 50 }]
    const outcomes = await Promise.all(
      asked.map((more) => replica.admit(replica.item(tenant.key, tenant.product, more))),
    )
    expect(outcomes.map(codeOf)).toEqual(['insufficient_budget', 'admitted', 'idempotency_mismatch', 'running'])
    expect(await walletOf(replica, tenant.project.id)).toEqual({ funded: 60n, reserved: 50n, settled: 0n })
    expect(await findingsOf(replica, tenant.project.id)).toEqual([])
  })

  test('two projects that use the same idempotency key are decided independently', async ({ fixture, replica }) => {
    const tenants = [await openTenant(fixture, 0n), await openTenant(fixture)]
    const outcomes = await Promise.all(
      [0, 1, 0, 1].map((n) => replica.admit(replica.item(tenants[n]!.key, tenants[n]!.product, keyed('copies-6')))),
    )
    expect(outcomes.map(codeOf)).toEqual(['insufficient_budget', 'admitted', 'insufficient_budget', 'running'])
  })
})
