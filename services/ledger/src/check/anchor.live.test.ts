import { describe, expect } from 'vitest'
import { test as ledgerTest } from '../fixtures/ledger-test.ts'
import { checkAnchor, takeAnchor } from './anchor.ts'
import { formatFinding } from './check-books.ts'

const test = ledgerTest
  /** Makes one settled and one open call. */
  .extend('spend', ({ replica, tenant }) => async () => {
    const [settled, open] = [replica.item(tenant.key, tenant.product), replica.item(tenant.key, tenant.product)]
    await replica.admit(settled)
    await replica.settle(settled.id)
    await replica.admit(open)
  })
  .extend(
    'against',
    ({ replica }) =>
      async (anchor: string) =>
        (await checkAnchor(replica.reads, anchor)).map(formatFinding),
  )
  /** Changes rows as a superuser who bypasses every trigger; undone after the test. */
  .extend('tamper', async ({ fixture, tenant }, { onCleanup }) => {
    const unguarded = async (statements: string[]) => {
      await fixture.run('SET session_replication_role = replica')
      for (const sql of statements) await fixture.run(sql, sql.includes('$1') ? [tenant.project.id] : [])
      await fixture.run('SET session_replication_role = origin')
    }
    const tables = ['journal_blocks', 'anchored_heads']
    onCleanup(() =>
      unguarded(
        tables.flatMap((table) => [
          `DELETE FROM money.${table} WHERE project = $1`,
          `INSERT INTO money.${table} SELECT * FROM kept_${table}`,
          `DROP TABLE kept_${table}`,
        ]),
      ),
    )
    for (const table of tables) await fixture.run(`CREATE TEMP TABLE kept_${table} (LIKE money.${table})`)
    return async (...statements: string[]) => {
      for (const table of tables)
        await fixture.run(
          `INSERT INTO kept_${table} SELECT * FROM money.${table} WHERE project = $1 AND NOT EXISTS (SELECT FROM kept_${table})`,
          [tenant.project.id],
        )
      await unguarded(statements)
    }
  })

describe('an anchor', () => {
  test('matches the books it was taken from, however much they have grown since', async ({
    replica,
    spend,
    against,
  }) => {
    await spend()
    const first = (await takeAnchor(replica.reads))!
    expect(first.text).toMatch(/^\d+:[0-9a-f]{64}$/)
    await spend()
    const second = (await takeAnchor(replica.reads))!
    expect(second.text).not.toBe(first.text)
    await spend()
    expect(await against(first.text)).toEqual([])
    expect(await against(second.text)).toEqual([])
  })

  test('is taken once while no wallet moves, by one replica only', async ({ replica, other, spend }) => {
    await spend()
    const taken = await Promise.all([takeAnchor(replica.reads), takeAnchor(other.reads), takeAnchor(replica.reads)])
    expect(taken.filter((anchor) => anchor !== null)).toHaveLength(1)
    expect(await takeAnchor(replica.reads)).toBeNull()
  })

  test('records the journal heads only of wallets that have moved', async ({ replica, spend, fixture, tenant }) => {
    await spend()
    await takeAnchor(replica.reads)
    await fixture.fund((await fixture.project(tenant.owners)).id, 1n)
    const { text } = (await takeAnchor(replica.reads))!
    const { rows } = await fixture.run('SELECT count(*)::int AS heads FROM money.anchored_heads WHERE anchor = $1', [
      text.split(':')[0],
    ])
    expect(rows).toEqual([{ heads: 1 }])
  })

  test('names the project whose journal was rewritten, even if all its seals were recomputed', async ({
    replica,
    spend,
    against,
    tamper,
    tenant,
  }) => {
    await spend()
    const { text } = (await takeAnchor(replica.reads))!
    await tamper(`UPDATE money.journal_blocks SET seal = sha256(seal) WHERE project = $1`)
    const findings = await against(text)
    expect(findings[0]).toMatch(new RegExp(`^${tenant.project.id}: .*the seal of an anchored entry has changed`))
    expect(findings.at(-1)).toMatch(/^all wallets: anchor \d+: the books differ from the anchor/)
  })

  test('detects a rewrite even if the heads recorded in the same database were rewritten too', async ({
    replica,
    spend,
    against,
    tamper,
  }) => {
    await spend()
    const { text } = (await takeAnchor(replica.reads))!
    await tamper(
      `UPDATE money.journal_blocks SET seal = sha256(seal) WHERE project = $1`,
      `UPDATE money.anchored_heads SET seal = sha256(seal) WHERE project = $1`,
    )
    expect(await against(text)).toEqual([expect.stringMatching(/the books differ from the anchor/)])
  })

  test('detects a truncated journal and a missing wallet', async ({ replica, spend, against, tamper }) => {
    await spend()
    const { text } = (await takeAnchor(replica.reads))!
    await tamper('DELETE FROM money.journal_blocks WHERE project = $1')
    expect((await against(text))[0]).toMatch(/an anchored entry is missing/)
    await tamper('DELETE FROM money.anchored_heads WHERE project = $1')
    expect(await against(text)).toEqual([expect.stringMatching(/the books differ from the anchor/)])
  })

  test('does not match if it was taken from other books', async ({ replica, spend, against }) => {
    await spend()
    await takeAnchor(replica.reads)
    expect(await against(`1:${'0'.repeat(64)}`)).toEqual([expect.stringMatching(/the books differ from the anchor/)])
  })
})
