import { describe, expect, onTestFinished } from 'vitest'
import { setBudget } from '../budgets/budgets.ts'
import { openCountingSession } from '../fixtures/count-work.ts'
import { test as tenantTest } from '../fixtures/ledger-test.ts'
import { checkBooks } from './check-books.ts'

// The cost of a round of the check depends on what moved. It is counted, not timed.

const OTHERS = 5_000

const test = tenantTest
  .extend('round', async ({ database }) => {
    const session = await openCountingSession(database.adminUrl)
    onTestFinished(session.close)
    return () =>
      session.countAll(async ({ prisma }) => {
        expect((await checkBooks({ prisma })).findings).toEqual([])
      })
  })
  .extend('wallets', async ({ fixture, tenant }) => {
    const made: string[] = []
    while (made.length < 30) made.push((await fixture.project(tenant.owners, 1_000n)).id)
    return made
  })

describe('a round of the check', () => {
  test('runs a constant number of statements for idle wallets, plus at most three for each wallet that moved', async ({
    replica,
    round,
    tenant,
    wallets,
    fixture,
  }) => {
    expect(wallets.length).toBeGreaterThan(0)
    await checkBooks(replica.reads)
    const still = await round()
    await fixture.run(
      `INSERT INTO money.wallets (project) SELECT 'still ' || n FROM generate_series(1, 200) n ON CONFLICT DO NOTHING`,
    )
    await checkBooks(replica.reads)
    expect((await round()).statements).toBe(still.statements)
    await replica.admit(replica.item(tenant.key, tenant.product))
    const moved = await round()
    expect(moved.statements - still.statements).toBeLessThanOrEqual(3)
    expect((await round()).statements).toBe(still.statements)
  })

  test('reads no rows of other wallets if one has moved', async ({ replica, round, tenant, fixture }) => {
    await checkBooks(replica.reads)
    await replica.admit(replica.item(tenant.key, tenant.product))
    const before = await round()
    await fixture.run(
      `INSERT INTO money.reservations (id, invocation, attempt, project, key, lineage, product, instance, micro, output_cap,
                                       prompt_pico, completion_pico, request_pico, keyed, admitted_at, deadline_at)
       SELECT 'other' || n, 'other' || n, 1, 'other', 'k', 'k', 'm', 'h', 0, 1, 0, 0, 0, false, now(), now() + interval '1 hour'
         FROM generate_series(1, ${OTHERS}) n`,
    )
    await fixture.run(
      `INSERT INTO money.meters SELECT 'other' || n, 'other', now(), 1, 0, 0 FROM generate_series(1, ${OTHERS}) n`,
    )
    await fixture.run('ANALYZE money.reservations, money.meters')
    onTestFinished(async () => {
      await fixture.run(`DELETE FROM money.reservations WHERE project = 'other'; `)
      await fixture.run(`DELETE FROM money.meters WHERE project = 'other'`)
    })
    await replica.admit(replica.item(tenant.key, tenant.product))
    expect((await round()).rows).toBeLessThan(before.rows * 2)
  })

  test('reads no journals of deleted projects for a budget', async ({ replica, round, tenant, fixture }) => {
    await fixture.run(`INSERT INTO money.wallets (project) SELECT 'deleted ' || n FROM generate_series(1, ${OTHERS}) n`)
    onTestFinished(async () => {
      await fixture.run(`DELETE FROM money.wallets WHERE project LIKE 'deleted %'`)
      await fixture.run(`DELETE FROM money.checked_wallets WHERE project LIKE 'deleted %'`)
    })
    await fixture.run(
      `INSERT INTO money.checked_wallets (project, seq, funded, reserved, settled, seal, checked_at)
       SELECT project, journal_seq, funded, reserved, settled, seal, now() FROM money.wallets WHERE project LIKE 'deleted %'`,
    )
    await fixture.run('ANALYZE money.wallets, money.checked_wallets')
    await checkBooks(replica.reads)
    const roundWithACall = async () => {
      await replica.admit(replica.item(tenant.key, tenant.product))
      return round()
    }
    const before = await roundWithACall()
    const { tenant: organization, team, owner } = tenant.owners
    const budget = { kind: 'team', subject: team, limitMicro: 10_000, hard: true } as const
    await setBudget(replica, { id: 'bud_costs', tenant: organization, createdBy: owner, ...budget })
    const after = await roundWithACall()
    // One more scan of wallets and checkpoints, and no other partition of the journal.
    expect(after.rows - before.rows).toBeLessThan(5 * OTHERS)
    expect(after.tables).toEqual(before.tables)
  })
})
