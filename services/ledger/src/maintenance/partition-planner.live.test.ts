import { Client } from 'pg'
import { describe, expect, onTestFinished } from 'vitest'
import { ask } from '@gateway/testbed/ask'
import { test } from '../fixtures/ledger-test.ts'
import { planPartitions, plannedDays } from './partition-planner.ts'

const dayName = (days: number) =>
  `answers_${new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10).replaceAll('-', '')}`

async function openSession(url: string): Promise<Client> {
  const client = new Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

/** Runs `sql` in a transaction that stays open until `close`. */
async function keepOpen(url: string, sql: string): Promise<{ close: () => Promise<unknown> }> {
  const session = await openSession(url)
  await session.query(`BEGIN; ${sql}`)
  return { close: () => session.query('ROLLBACK') }
}

describe('the partition planner', () => {
  test('creates a partition for each of the coming days, and has nothing to do in the next run', async ({
    replica,
  }) => {
    await planPartitions(replica)
    expect(await planPartitions(replica)).toMatchObject({ made: 0 })
    const answers = (await plannedDays(replica)).find(({ table }) => table === 'answers')
    expect(answers?.days).toBeGreaterThanOrEqual(7)
  })

  test('drops only days past their retention, even if asked to drop more', async ({ fixture, replica, database }) => {
    for (const days of [-40, -31, -30])
      await fixture.run(
        `CREATE TABLE money.${dayName(days)} PARTITION OF money.answers
           FOR VALUES FROM (current_date + ${days}) TO (current_date + ${days + 1})`,
      )
    await fixture.run(`INSERT INTO money.answers VALUES (current_date - 40, 'old', 'text/plain', 'a')`)
    await ask(database.ledgerUrl, `SELECT money.drop_partition('answers', -100000)`)
    await planPartitions(replica)
    const { rows } = await fixture.run(
      `SELECT to_regclass('money.' || n) IS NOT NULL AS there FROM unnest($1::text[]) n`,
      [[-40, -31, -30, 0, 1].map(dayName)],
    )
    expect(rows.map(({ there }) => there)).toEqual([false, false, true, true, true])
  })

  test('gives up on a lock that it cannot get, and creates the partition in a later run', async ({
    fixture,
    replica,
    database,
  }) => {
    await planPartitions(replica)
    await fixture.run(`DROP TABLE money.${dayName(7)}`)
    const reader = await keepOpen(database.adminUrl, 'SELECT FROM money.answers')
    await expect(planPartitions(replica)).rejects.toThrow('partitions could not be made or dropped')
    await reader.close()
    expect(await planPartitions(replica)).toMatchObject({ made: 1 })
  })

  test('skips its run while another one holds the lock', async ({ fixture, replica, database }) => {
    await planPartitions(replica)
    await fixture.run(`DROP TABLE money.${dayName(7)}`)
    const other = await keepOpen(
      database.adminUrl,
      `SELECT pg_advisory_xact_lock(hashtext('money.partitions'), hashtext('answers'))`,
    )
    expect(await planPartitions(replica)).toMatchObject({ made: 0 })
    await other.close()
    expect(await planPartitions(replica)).toMatchObject({ made: 1 })
  })

  test('moves rows out of the default partition, and they stay append-only', async ({ fixture, replica, database }) => {
    await planPartitions(replica)
    const { rows } = await fixture.run(
      `INSERT INTO money.attempts (id, invocation, attempt, state, closed_at)
       SELECT money.id_bound('inv', now() + interval '120 days') || 'stray', 'i', 1, 'Released', now() RETURNING id`,
    )
    const place = async () =>
      (
        await fixture.run('SELECT tableoid::regclass::text AS name FROM money.attempts WHERE id = $1', [
          rows[0]?.['id'],
        ])
      ).rows[0]?.['name'] as string
    expect(await place()).toBe('money.attempts_unplanned')
    const make = `SELECT money.make_partition('attempts', 120) AS made`
    while ((await ask(database.ledgerUrl, make))[0]?.['made']);
    const name = await place()
    expect(name).toMatch(/^money\.attempts_\d{8}$/)
    for (const table of [name, 'money.attempts_unplanned'])
      await expect(fixture.run(`DELETE FROM ${table}`)).rejects.toThrow('append-only')
  })

  test('plans every table weeks ahead', async ({ replica }) => {
    await planPartitions(replica)
    const days = await plannedDays(replica)
    expect(days).toHaveLength(6)
    const short = days.filter(({ table, days: planned }) => planned < (table === 'answers' ? 7 : 21))
    expect(short).toEqual([])
  })

  test('reads the system catalogs, even if the session has temporary tables of the same names', async ({
    database,
  }) => {
    const session = await openSession(database.ledgerUrl)
    await session.query(`
      CREATE TEMP TABLE pg_class (oid oid, relname name);
      CREATE TEMP TABLE pg_inherits (inhrelid oid, inhparent oid);
      INSERT INTO pg_class VALUES ('money.wallets'::regclass, 'answers_20200101');
      INSERT INTO pg_inherits VALUES ('money.wallets'::regclass, 'money.answers'::regclass)`)
    const { rows } = await session.query(`SELECT money.drop_partition('answers', 30) AS dropped`)
    expect(rows).toEqual([{ dropped: null }])
  })
})

describe('while the saved answers are locked', () => {
  const usage = { promptTokens: 0, completionTokens: 7 }
  const answer = { contentType: 'application/json', body: '{"a":1}' }

  for (const mode of ['ACCESS SHARE', 'ACCESS EXCLUSIVE']) {
    test(`calls are admitted and settled: ${mode}`, async ({ replica, tenant, database }) => {
      const idempotency = { key: `locked ${mode}`, fingerprint: 'a'.repeat(64) }
      const call = replica.item(tenant.key, tenant.product, { idempotency })
      await replica.admit(call)
      const locked = await keepOpen(database.adminUrl, `LOCK TABLE money.answers IN ${mode} MODE`)
      const [settled, other] = await Promise.all([
        replica.settle(call.id, usage, answer),
        replica.admit(replica.item(tenant.key, tenant.product)),
      ])
      expect([settled, other.kind]).toEqual([{ kind: 'settled', chargedMicro: 7 }, 'admitted'])
      await locked.close()
      const repeat = await replica.admit(replica.item(tenant.key, tenant.product, { idempotency }))
      expect(repeat).toMatchObject(
        mode === 'ACCESS SHARE' ? { kind: 'replay', body: answer.body } : { kind: 'refused', code: 'answer_not_kept' },
      )
    })
  }
})
