import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { describe, expect } from 'vitest'
import { codeOf, countCodes, openReplica, type RunBatch } from '../fixtures/replica.ts'
import { findingsOf, test, walletOf } from '../fixtures/ledger-test.ts'

describe('locks of an admission batch', () => {
  // spec: 4.2/s12
  test('reads facts after taking the lock: a key revoked while the batch waits is refused [key_revoked]', async ({
    database,
    fixture,
    replica,
    tenant,
  }) => {
    const holding = new Client({ connectionString: database.adminUrl })
    await holding.connect()
    await holding.query('BEGIN')
    await holding.query('SELECT FROM money.wallets WHERE project = $1 FOR UPDATE', [tenant.project.id])
    const waiting = replica.admit(replica.item(tenant.key, tenant.product))
    await untilBlocked(fixture)
    await fixture.run('UPDATE control.keys SET revoked_at = now() WHERE id = $1', [tenant.key.id])
    await holding.query('COMMIT')
    await holding.end()
    expect(codeOf(await waiting)).toBe('key_revoked')
  })

  test('waiting for a lock other than a wallet’s counts as a lockout, and the item is decided once the lock is released', async ({
    database,
    tenant,
  }) => {
    const replica = await openReplica(database.ledgerUrl)
    const holding = new Client({ connectionString: database.adminUrl })
    await holding.connect()
    await holding.query('BEGIN')
    await holding.query('SELECT FROM money.wallets WHERE project = $1 FOR UPDATE', [tenant.project.id])
    const behindWallet = replica.admit(replica.item(tenant.key, tenant.product))
    const seen = () => holding.query(`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'`)
    while ((await seen()).rowCount === 0) continue
    await holding.query('ROLLBACK')
    expect(codeOf(await behindWallet)).toBe('admitted')
    expect(replica.lockouts()).toBe(0)

    await holding.query('BEGIN')
    await holding.query('LOCK TABLE money.idempotency_keys IN EXCLUSIVE MODE')
    const idempotency = { key: randomBytes(8).toString('hex'), fingerprint: 'a'.repeat(64) }
    const behindTable = replica.admit(replica.item(tenant.key, tenant.product, { idempotency }))
    while (replica.lockouts() < 2) await new Promise(setImmediate)
    await holding.query('COMMIT')
    await holding.end()
    expect(codeOf(await behindTable)).toBe('admitted')
    await replica.close()
  })

  test('two replicas that lock many wallets concurrently never deadlock and quarantine nothing', async ({
    fixture,
    replica,
    other,
    tenant,
  }) => {
    const keys = await Promise.all(
      Array.from({ length: 12 }, async () => {
        const project = await fixture.project(tenant.owners, 100_000n)
        await fixture.assign(project.id, tenant.product)
        return fixture.key({ project, by: tenant.owners.owner, limit: { micro: 50_000n, reset: 'lifetime' } })
      }),
    )
    const cycle = async (n: number) => {
      const one = n % 2 ? replica : other
      const item = one.item(keys[(n * 7) % keys.length]!, tenant.product)
      const outcome = await one.admit(item)
      return outcome.kind === 'admitted' ? await one.settle(item.id) : outcome
    }
    const outcomes = await Promise.all(Array.from({ length: 2_000 }, (_, n) => cycle(n)))
    expect(countCodes(outcomes)).toEqual({ settled: 2_000 })
    expect([...replica.quarantined, ...other.quarantined]).toEqual([])
    for (const key of keys) expect(await findingsOf(replica, key.project!)).toEqual([])
  })
})

describe('admissionBatcher', () => {
  test('drops an item past its deadline undecided and reserves nothing for it', async ({
    database,
    replica,
    tenant,
  }) => {
    const { promise: open, resolve: go } = Promise.withResolvers<void>()
    const held =
      (run: RunBatch): RunBatch =>
      async (database, batch, waitForLocks) => (await open, run(database, batch, waitForLocks))
    let nowMs = 0
    const slow = await openReplica(database.ledgerUrl, { around: held, now: () => nowMs })
    const first = slow.admit(slow.item(tenant.key, tenant.product), 100)
    await Promise.resolve() // the first batch is in flight
    const second = slow.admit(slow.item(tenant.key, tenant.product), 100)
    nowMs = 100
    go()
    expect((await first).kind).toBe('admitted')
    expect(await second).toEqual({ kind: 'undecided', why: 'unavailable' })
    expect((await walletOf(replica, tenant.project.id)).reserved).toBe(100n)
    await slow.close()
  })

  test('drops items undecided at their deadline while a batch hangs, and reports how long the batch has been in flight', async ({
    database,
    tenant,
  }) => {
    const { promise: open, resolve: go } = Promise.withResolvers<void>()
    const held =
      (run: RunBatch): RunBatch =>
      async (database, batch, waitForLocks) => (await open, run(database, batch, waitForLocks))
    let aheadMs = 0
    const stuck = await openReplica(database.ledgerUrl, { around: held, now: () => performance.now() + aheadMs })
    const first = stuck.admit(stuck.item(tenant.key, tenant.product))
    await Promise.resolve() // the first batch is in flight
    const body = 'x'.repeat(100_000)
    const ids = Array.from({ length: 200 }, () => `inv_${randomBytes(8).toString('hex')}`)
    const usage = { promptTokens: 1, completionTokens: 1 }
    const waiting = Array.from({ length: 5 }, () =>
      ids.map((id) => stuck.settle(id, usage, { contentType: 'text/plain', body })),
    )
    expect(stuck.admissionBatcher.waiting()).toMatchObject({ all: 200, admissions: 0, inFlight: 1 })
    aheadMs = 9_000
    const { oldestMs, inFlightMs } = stuck.admissionBatcher.waiting()
    expect([oldestMs, inFlightMs].every((ms) => ms >= 9_000 && ms < 60_000)).toBe(true)
    aheadMs = 10_000
    expect(countCodes(await Promise.all(waiting.flat()))).toEqual({ undecided: 1_000 })
    expect(stuck.admissionBatcher.waiting()).toMatchObject({ all: 0, oldestMs: 0, inFlight: 1 })
    go()
    expect((await first).kind).toBe('admitted')
    await stuck.close()
    expect(stuck.admissionBatcher.waiting()).toMatchObject({ inFlight: 0, inFlightMs: 0 })
  })

  test('refuses admissions as overloaded when its queue is full, and still accepts closings', async ({
    database,
    tenant,
  }) => {
    const { promise: open, resolve: go } = Promise.withResolvers<void>()
    const held =
      (run: RunBatch): RunBatch =>
      async (database, batch, waitForLocks) => (await open, run(database, batch, waitForLocks))
    const small = await openReplica(database.ledgerUrl, {
      limits: { waitingAdmissions: 3, batchItems: 1 },
      around: held,
    })
    const outcomes = Array.from({ length: 10 }, () => small.admit(small.item(tenant.key, tenant.product)))
    await Promise.resolve()
    const releases = Array.from({ length: 10 }, () => small.release(`inv_${randomBytes(8).toString('hex')}`))
    go()
    expect(countCodes(await Promise.all(outcomes))).toMatchObject({ undecided: 7 })
    expect(countCodes(await Promise.all(releases))).toEqual({ released: 10 })
    await small.close()
  })

  test('retries a batch whose connection was lost, and decides each item once', async ({
    fixture,
    database,
    tenant,
  }) => {
    let lost = 0
    const dying =
      (run: RunBatch): RunBatch =>
      async (database, batch, waitForLocks) => {
        const rows = await run(database, batch, waitForLocks)
        // The batch is committed, but its response never arrives.
        if (batch.admissions.length > 0 && lost++ === 0)
          throw Object.assign(new Error('connection lost'), { code: 'ECONNRESET' })
        return rows
      }
    const replica = await openReplica(database.ledgerUrl, { around: dying })
    const items = Array.from({ length: 20 }, () => replica.item(tenant.key, tenant.product))
    const outcomes = await Promise.all(items.map((item) => replica.admit(item)))
    expect(countCodes(outcomes)).toEqual({ admitted: 20 })
    const held = await fixture.run('SELECT reserved FROM money.wallets WHERE project = $1', [tenant.project.id])
    expect(held.rows).toEqual([{ reserved: '2000' }])
    await replica.close()
  })

  test('admits without prepared statements, as behind PgBouncer', async ({ database, tenant }) => {
    const replica = await openReplica(database.ledgerUrl, { preparedStatements: false })
    expect(codeOf(await replica.admit(replica.item(tenant.key, tenant.product)))).toBe('admitted')
    await replica.close()
  })
})

/** Resolves once a session of this database waits for a lock. */
async function untilBlocked(fixture: { run: (sql: string) => Promise<{ rowCount: number | null }> }): Promise<void> {
  for (;;) {
    const waiting = await fixture.run(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    )
    if (waiting.rowCount) return
  }
}
