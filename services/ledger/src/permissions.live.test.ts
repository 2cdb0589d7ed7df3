import { Client, type QueryResult, type QueryResultRow } from 'pg'
import { describe, expect } from 'vitest'
import { liveTest as test } from '@gateway/testbed/live-test'
import { openFixture } from '@gateway/testbed/fixture'

// Postgres is the last line of defense: only the ledger's role writes money, and append-only rows never change.

async function query<Row extends QueryResultRow>(url: string, sql: string): Promise<QueryResult<Row>> {
  const client = new Client({ connectionString: url })
  await client.connect()
  return client.query<Row>(sql).finally(() => client.end())
}

async function as(url: string, sql: string): Promise<string> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(sql)
    return 'done'
  } catch (error) {
    return (error as Error).message
  } finally {
    await client.end()
  }
}

const MONEY_TABLES = [
  'wallets',
  'meters',
  'reservations',
  'attempts',
  'journal',
  'journal_blocks',
  'fundings',
  'corrections',
  'anchors',
  'anchored_heads',
  'rechecked_wallets',
  'archives',
  'archived_wallets',
  'usage_hours',
  'usage_days',
  'product_months',
  'usage_positions',
  'journal_days',
  'refusal_hours',
  'latest_refusals',
  'refusal_senders',
  'provider_slots',
  'provider_failures',
  'provider_senders',
  'provider_states',
  'notices',
  'webhooks',
  'webhook_deliveries',
  'days_left_thresholds',
  'write_offs',
  'idempotency_keys',
  'instances',
  'instance_monitors',
  'executions',
  'execution_nodes',
  'assets',
]

describe('Postgres permissions', () => {
  for (const table of MONEY_TABLES) {
    test(`the console can read money.${table} and cannot write it`, async ({ database }) => {
      expect(await as(database.consoleUrl, `SELECT * FROM money.${table} LIMIT 1`)).toBe('done')
      expect(await as(database.consoleUrl, `DELETE FROM money.${table}`)).toMatch(/permission denied/)
      expect(await as(database.consoleUrl, `INSERT INTO money.${table} DEFAULT VALUES`)).toMatch(/permission denied/)
    })
  }

  test('the console can neither fund nor correct a wallet, nor read a saved answer', async ({ database }) => {
    expect(await as(database.consoleUrl, `SELECT money.fund('p', 'f', 1, 'me')`)).toMatch(/permission denied/)
    expect(await as(database.consoleUrl, `SELECT money.correct('p', 'c', 1, 'r', 'me')`)).toMatch(/permission denied/)
    expect(await as(database.consoleUrl, 'SELECT * FROM money.answers')).toMatch(/permission denied/)
    expect(await as(database.consoleUrl, 'SELECT item FROM money.quarantined_items')).toMatch(/permission denied/)
  })

  test('the console cannot read saved answers, in existing partitions or in ones created later', async ({
    database,
  }) => {
    const partitions = `SELECT tablename::text AS name, has_table_privilege('svc_console', format('money.%I', tablename), 'SELECT') AS readable
                          FROM pg_tables WHERE schemaname = 'money' AND tablename ~ '^answers' ORDER BY 1`
    const today = `answers_${new Date().toISOString().slice(0, 10).replaceAll('-', '')}`
    for (const ahead of [2, 5]) {
      const make = `SELECT made FROM money.make_partition('answers', ${ahead})`
      while ((await query<{ made: string | null }>(database.ledgerUrl, make)).rows[0]!.made !== null);
      const { rows } = await query<{ name: string; readable: boolean }>(database.adminUrl, partitions)
      expect(rows.length).toBeGreaterThan(ahead + 2)
      expect(rows.filter(({ readable }) => readable)).toEqual([])
      for (const { name } of rows) {
        expect(await as(database.consoleUrl, `SELECT body FROM money.${name}`)).toMatch(/permission denied/)
        expect(await as(database.ledgerUrl, `SELECT body FROM money.${name} LIMIT 1`)).toBe('done')
      }
    }
    expect(await as(database.consoleUrl, `SELECT body FROM money.${today}`)).toMatch(/permission denied/)
  })

  test('the console cannot execute any function of the money schema', async ({ database }) => {
    const { rows } = await query<{ name: string }>(
      database.adminUrl,
      `SELECT proname AS name FROM pg_proc
        WHERE pronamespace = 'money'::regnamespace AND prokind = 'f' AND prorettype <> 'trigger'::regtype
          AND has_function_privilege('svc_console', oid, 'EXECUTE')`,
    )
    expect(rows).toEqual([])
  })

  const keptAsItIs: [what: string, sql: string][] = [
    ['a revoked key stays revoked', `UPDATE control.keys SET revoked_at = NULL WHERE id = $1`],
    ['a rotated key keeps its replacement', `UPDATE control.keys SET rotated_to = 'key_other' WHERE id = $2`],
    ['a rotation cannot be undone', `UPDATE control.keys SET rotated_to = NULL WHERE id = $2`],
    [
      'a grace period cannot be extended',
      `UPDATE control.keys SET grace_until = grace_until + interval '1 hour' WHERE id = $2`,
    ],
    [
      'a rotated key without a grace period does not get one',
      `UPDATE control.keys SET grace_until = now() + interval '1 hour' WHERE id = $3`,
    ],
    ['a key keeps its id', `UPDATE control.keys SET id = 'key_new' WHERE id = $1`],
  ]
  for (const [what, sql] of keptAsItIs) {
    test(`${what}, for any role`, async ({ database }) => {
      const fixture = await openFixture(database.adminUrl)
      const owners = await fixture.tenant()
      const project = await fixture.project(owners)
      const [revoked, rotated, replacement, graceless, its] = [
        await fixture.key({ project, by: owners.owner, revoked: true }),
        await fixture.key({ project, by: owners.owner }),
        await fixture.key({ project, by: owners.owner }),
        await fixture.key({ project, by: owners.owner }),
        await fixture.key({ project, by: owners.owner }),
      ]
      await fixture.run(`UPDATE control.keys SET rotated_to = $2 WHERE id = $1`, [graceless.id, its.id])
      await fixture.run(
        `UPDATE control.keys SET rotated_to = $2, grace_until = now() + interval '1 hour' WHERE id = $1`,
        [rotated.id, replacement.id],
      )
      await fixture.close()
      const change = sql
        .replace('$1', `'${revoked.id}'`)
        .replace('$2', `'${rotated.id}'`)
        .replace('$3', `'${graceless.id}'`)
      for (const url of [database.consoleUrl, database.adminUrl])
        expect(await as(url, change)).toMatch(/a revoked or rotated key stays so/)
      // Shortening is always allowed.
      expect(
        await as(database.consoleUrl, `UPDATE control.keys SET grace_until = now() WHERE id = '${rotated.id}'`),
      ).toBe('done')
      expect(
        await as(database.consoleUrl, `UPDATE control.keys SET revoked_at = now() WHERE id = '${rotated.id}'`),
      ).toBe('done')
    })
  }

  test('the ledger can insert into append-only tables and cannot change them', async ({ database }) => {
    for (const table of [
      'journal',
      'journal_blocks',
      'attempts',
      'fundings',
      'corrections',
      'anchors',
      'anchored_heads',
      'write_offs',
      'archives',
      'archived_wallets',
    ]) {
      expect(await as(database.ledgerUrl, `DELETE FROM money.${table}`)).toMatch(/permission denied/)
    }
    expect(await as(database.adminUrl, `DELETE FROM money.journal`)).toMatch(/append-only/)
    expect(await as(database.adminUrl, `DELETE FROM money.archives`)).toMatch(/append-only/)
    expect(await as(database.adminUrl, `UPDATE money.attempts SET charged_micro = 0`)).toMatch(/append-only/)
    const { rows } = await query<{ name: string }>(
      database.adminUrl,
      `SELECT inhrelid::regclass::text AS name FROM pg_inherits
        WHERE inhparent IN ('money.journal'::regclass, 'money.journal_blocks'::regclass, 'money.attempts'::regclass)`,
    )
    expect(rows.length).toBeGreaterThan(6)
    for (const { name } of rows) {
      expect(await as(database.adminUrl, `DELETE FROM ${name}`)).toMatch(/append-only/)
      expect(await as(database.ledgerUrl, `INSERT INTO ${name} DEFAULT VALUES`)).toMatch(/permission denied/)
    }
  })

  test('the ledger cannot change keys or grants', async ({ database }) => {
    expect(await as(database.ledgerUrl, 'UPDATE control.keys SET revoked_at = NULL')).toMatch(/permission denied/)
    expect(await as(database.ledgerUrl, 'DELETE FROM control.project_grants')).toMatch(/permission denied/)
  })

  test('the audit log is append-only', async ({ database }) => {
    expect(await as(database.consoleUrl, `DELETE FROM control.audit`)).toMatch(/permission denied/)
    await query(database.adminUrl, `INSERT INTO control.audit (action, subject) VALUES ('a', 'b')`)
    for (const statement of [
      'DELETE FROM control.audit',
      'TRUNCATE control.audit',
      `UPDATE control.audit SET subject = 'c'`,
      `UPDATE control.audit SET subject = 'c', position = 1, seal = sha256('')`,
    ])
      expect(await as(database.adminUrl, statement)).toMatch(/append-only/)
  })

  test('the ledger cannot read passwords or user tokens', async ({ database }) => {
    for (const table of ['users', 'user_tokens', 'audit'])
      expect(await as(database.ledgerUrl, `SELECT * FROM control.${table}`)).toMatch(/permission denied/)
  })

  test('the ledger can read every table of the money schema, and the console all but saved answers and secrets', async ({
    database,
  }) => {
    const { rows } = await query<{ role: string; name: string }>(
      database.adminUrl,
      `SELECT role, tablename::text AS name FROM pg_tables, unnest('{svc_ledger,svc_console}'::text[]) role
        WHERE schemaname = 'money' AND NOT has_table_privilege(role, 'money.' || quote_ident(tablename), 'SELECT')`,
    )
    const hidden = /^(answers|quarantined_items$|receipt_secret$)/
    expect(rows.filter(({ role, name }) => role === 'svc_ledger' || !hidden.test(name))).toEqual([])
    expect(rows.map(({ name }) => name)).toContain('receipt_secret')
  })
})
