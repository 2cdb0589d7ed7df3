import { Client } from 'pg'
import { describe, expect } from 'vitest'
import { liveTest as test } from '@gateway/testbed/live-test'

// Postgres holds the last belt: only the ledger's role writes money, and nobody changes what is append-only.

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
  'invocations',
  'journal',
  'journal_blocks',
  'fundings',
  'house_losses',
  'idempotency_keys',
  'holders',
]

describe('rights in Postgres', () => {
  for (const table of MONEY_TABLES) {
    test(`the console reads money.${table} and cannot write it`, async ({ database }) => {
      expect(await as(database.consoleUrl, `SELECT * FROM money.${table} LIMIT 1`)).toBe('done')
      expect(await as(database.consoleUrl, `DELETE FROM money.${table}`)).toMatch(/permission denied/)
      expect(await as(database.consoleUrl, `INSERT INTO money.${table} DEFAULT VALUES`)).toMatch(/permission denied/)
    })
  }

  test('the console can neither fund a wallet nor read a saved answer', async ({ database }) => {
    expect(await as(database.consoleUrl, `SELECT money.fund_v1('p', 'f', 1, 'me')`)).toMatch(/permission denied/)
    expect(await as(database.consoleUrl, 'SELECT * FROM money.answers')).toMatch(/permission denied/)
  })

  test('the ledger adds to what is append-only and never changes it', async ({ database }) => {
    for (const table of ['journal', 'journal_blocks', 'invocations', 'fundings', 'house_losses']) {
      expect(await as(database.ledgerUrl, `DELETE FROM money.${table}`)).toMatch(/permission denied/)
    }
    expect(await as(database.adminUrl, `DELETE FROM money.journal`)).toMatch(/append-only/)
    expect(await as(database.adminUrl, `UPDATE money.invocations SET charged_micro = 0`)).toMatch(/append-only/)
  })

  test('the ledger cannot change who may do what', async ({ database }) => {
    expect(await as(database.ledgerUrl, 'UPDATE control.keys SET revoked_at = NULL')).toMatch(/permission denied/)
    expect(await as(database.ledgerUrl, 'DELETE FROM control.project_grants')).toMatch(/permission denied/)
  })

  test('the audit log keeps what was written', async ({ database }) => {
    expect(await as(database.consoleUrl, `DELETE FROM control.audit`)).toMatch(/permission denied/)
    expect(await as(database.adminUrl, `DELETE FROM control.audit`)).toMatch(/append-only/)
  })

  test('the ledger reads no password and no person’s token', async ({ database }) => {
    for (const table of ['people', 'person_tokens', 'audit'])
      expect(await as(database.ledgerUrl, `SELECT * FROM control.${table}`)).toMatch(/permission denied/)
  })

  test('no table of money is out of the ledger’s or the console’s sight, but saved answers', async ({ database }) => {
    const client = new Client({ connectionString: database.adminUrl })
    await client.connect()
    const { rows } = await client.query<{ role: string; name: string }>(
      `SELECT role, tablename::text AS name FROM pg_tables, unnest('{svc_ledger,svc_console}'::text[]) role
        WHERE schemaname = 'money' AND NOT has_table_privilege(role, 'money.' || quote_ident(tablename), 'SELECT')`,
    )
    await client.end()
    expect(rows.filter(({ role, name }) => role === 'svc_ledger' || !name.startsWith('answers'))).toEqual([])
  })
})
