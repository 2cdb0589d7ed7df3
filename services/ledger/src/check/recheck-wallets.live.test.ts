import { describe, expect } from 'vitest'
import { test as ledgerTest } from '../fixtures/ledger-test.ts'
import { checkBooks, formatFinding } from './check-books.ts'
import { recheckWallets } from './recheck-wallets.ts'

const test = ledgerTest
  .extend('spend', ({ replica, tenant }) => async (completionTokens: number) => {
    const item = replica.item(tenant.key, tenant.product)
    await replica.admit(item)
    await replica.settle(item.id, { promptTokens: 0, completionTokens })
    return item.id
  })
  .extend('recheck', ({ replica }) => async (wallets = 1_000) => {
    const { findings } = await recheckWallets(replica.reads, wallets)
    return findings.map(formatFinding)
  })
  .extend('tamper', ({ fixture }) => async (sql: string, values: unknown[]) => {
    await fixture.run('SET session_replication_role = replica')
    await fixture.run(sql, values)
    await fixture.run('SET session_replication_role = origin')
  })

describe('rechecking wallets behind the checkpoints', () => {
  test('finds a changed entry that the check has passed, and reports it until it is fixed', async ({
    replica,
    tenant,
    spend,
    recheck,
    tamper,
  }) => {
    const id = await spend(30)
    const check = async () => (await checkBooks(replica.reads)).findings.map(formatFinding)
    expect([await check(), await recheck()]).toEqual([[], []])
    const rename = 'UPDATE money.journal SET reference = $2 WHERE project = $1 AND reference = $3'
    await tamper(rename, [tenant.project.id, 'other', id])
    expect(await check()).toEqual([]) // the entry is behind the checkpoint, and no balance has changed
    const saying = expect.arrayContaining([expect.stringMatching(/the seal does not match its entries/)]) as string[]
    expect(await recheck()).toEqual(saying)
    expect(await recheck(0)).toEqual(saying) // wallets with a finding are rechecked every time
    await tamper(rename, [tenant.project.id, id, 'other'])
    expect(await recheck(0)).toEqual([])
    expect(await recheck()).toEqual([])
  })

  test('finds a charge that is not what its usage costs', async ({ tenant, spend, recheck, tamper }) => {
    const id = await spend(30)
    const setTokens = 'UPDATE money.attempts SET completion_tokens = $2 WHERE id = $1'
    await tamper(setTokens, [id, 29])
    expect(await recheck()).toEqual([
      expect.stringMatching(
        new RegExp(`^${tenant.project.id}: .*the charge differs from the cost of its usage: expected 29, found 30`),
      ),
    ])
    await tamper(setTokens, [id, 30])
    expect(await recheck()).toEqual([])
  })

  test('finds hourly usage that does not add up', async ({ tenant, spend, recheck, fixture }) => {
    await spend(30)
    await fixture.usage(tenant.project.id, { at: new Date(), micro: 5 })
    expect((await recheck()).join('\n')).toMatch(/the usage hours by all differ from the roll-up/)
    for (const table of ['usage_hours', 'usage_days'])
      await fixture.run(`DELETE FROM money.${table} WHERE project = $1`, [tenant.project.id])
    expect(await recheck()).toEqual([])
  })

  test('covers all wallets in turn, a few per run', async ({ fixture, tenant, recheck }) => {
    const made: string[] = []
    for (let n = 0; n < 5; n++) {
      const { id } = await fixture.project(tenant.owners, 1n)
      made.push(id)
    }
    await fixture.run('DELETE FROM money.rechecked_wallets')
    const seen = async () =>
      (await fixture.run('SELECT count(*)::int AS seen FROM money.rechecked_wallets')).rows as [{ seen: number }]
    await recheck(2)
    expect(await seen()).toEqual([{ seen: 2 }])
    await recheck(2)
    expect(await seen()).toEqual([{ seen: 4 }])
    await recheck(1_000)
    const { rows } = await fixture.run('SELECT FROM money.rechecked_wallets WHERE project = ANY ($1)', [made])
    expect(rows).toHaveLength(5)
  })

  test('retries failed wallets every time, a few of them, until they succeed', async ({
    replica,
    fixture,
    tenant,
    recheck,
    tamper,
  }) => {
    const failing = new Set<string>()
    for (let n = 0; n < 4; n++) failing.add((await fixture.project(tenant.owners, 1n)).id)
    // The sum of these amounts exceeds a bigint, so reading the usage of these wallets fails.
    await fixture.run(
      `INSERT INTO money.journal (project, seq, kind, reference, available, reserved, settled, outside, at)
       SELECT p, 1000 + n, 'settle', 'too much', 0, 0, 9e18, -9e18, now()
         FROM unnest($1::text[]) p, generate_series(1, 2) n`,
      [[...failing]],
    )
    const failures = async (others: number) => {
      const { errors } = await recheckWallets(replica.reads, others)
      return errors.map(({ message }) => /^recheck of (\S+) failed$/.exec(message)?.[1])
    }
    expect(new Set(await failures(1_000))).toEqual(failing)
    const retried = [await failures(0), await failures(0)]
    expect(retried.map(({ length }) => length)).toEqual([3, 3])
    expect(new Set(retried.flat())).toEqual(failing) // those that have waited longest first
    await tamper(`DELETE FROM money.journal WHERE reference = 'too much'`, [])
    for (let n = 0; n < 2; n++) expect([await failures(0), await recheck(0)]).toEqual([[], []])
    expect((await recheckWallets(replica.reads, 0)).wallets).toBe(0)
  })

  test('keeps the position of a wallet whose entries cannot be read, also behind archived entries', async ({
    replica,
    fixture,
    tenant,
    spend,
    tamper,
  }) => {
    const { id } = tenant.project
    // JavaScript cannot parse a date of this form.
    await tamper(`UPDATE money.attempts SET window_start = '20000-01-01' WHERE id = $1`, [await spend(30)])
    await fixture.run('DELETE FROM money.rechecked_wallets WHERE project = $1', [id])
    await fixture.run(
      `INSERT INTO money.archived_wallets (project, month, seq, at, funded, reserved, settled, seal, windows)
       VALUES ($1, '2026-01-01', 1, '2026-01-31', 0, 0, 0, 'seal', '[]')`,
      [id],
    )
    const { errors } = await recheckWallets(replica.reads, 1_000)
    expect(errors.map(({ message }) => message)).toEqual([`recheck of ${id} failed`])
    const { rows } = await fixture.run('SELECT seq::int, findings FROM money.rechecked_wallets WHERE project = $1', [
      id,
    ])
    expect(rows).toEqual([{ seq: 1, findings: 0 }])
  })
})
