import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { expect } from 'vitest'
import { startTelemetry } from '@gateway/service-kit/process/telemetry'
import { test as ledgerTest } from './fixtures/ledger-test.ts'
import { observeChecks, observeDatabase } from './state-metrics.ts'

const test = ledgerTest.extend('metric', ({ replica }) => async (name: string): Promise<number | null> => {
  const telemetry = await startTelemetry({ service: 'ledger', otlpEndpoint: undefined })
  observeDatabase(telemetry.meter, replica)
  observeChecks(telemetry.meter, replica, { CHECK_EVERY_SECONDS: 60 })
  const text = await telemetry.metricsText()
  await telemetry.stop()
  const figure = new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)`, 'm').exec(text)?.[1]
  return figure === undefined ? null : Number(figure)
})

test('the ledger reports the age of the oldest open transaction and of the oldest snapshot', async ({
  database,
  fixture,
  metric,
}) => {
  const longTransaction = new Client({ connectionString: database.adminUrl })
  longTransaction.on('error', () => {}) // if this test fails, its database is dropped under it
  await longTransaction.connect()
  const begunMs = performance.now()
  await longTransaction.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
  await longTransaction.query('SELECT 1')
  for (let n = 0; n < 5; n++) await fixture.run('SELECT pg_current_xact_id()') // each is a later transaction
  await expect.poll(() => metric('ledger_transactions_oldest'), { timeout: 10_000 }).toBeGreaterThan(1)
  expect(await metric('ledger_transactions_oldest')).toBeLessThanOrEqual((performance.now() - begunMs) / 1_000 + 1)
  expect(await metric('ledger_snapshots_age')).toBeGreaterThanOrEqual(5)
  await longTransaction.end()
  await expect.poll(() => metric('ledger_transactions_oldest')).toBeLessThan(1)
})

test('the ledger reports no transaction age if it may not see other sessions', async ({ fixture, metric }) => {
  const owner = `owner_${randomBytes(4).toString('hex')}`
  const { rows } = await fixture.run(`SELECT current_user AS me`)
  await fixture.run(`CREATE ROLE ${owner}`)
  await fixture.run(`GRANT CREATE, USAGE ON SCHEMA money TO ${owner}`)
  await fixture.run(`ALTER FUNCTION money.oldest_transaction() OWNER TO ${owner}`)
  try {
    expect(await metric('ledger_transactions_oldest')).toBeNull()
    expect(await metric('ledger_usage_behind')).not.toBeNull()
  } finally {
    await fixture.run(`ALTER FUNCTION money.oldest_transaction() OWNER TO "${(rows as [{ me: string }])[0].me}"`)
    await fixture.run(`DROP OWNED BY ${owner}`)
    await fixture.run(`DROP ROLE ${owner}`)
  }
})

test('the ages of check and recheck count from the last ones that were done, also where the ledger has just started', async ({
  fixture,
  metric,
}) => {
  await fixture.run('DELETE FROM money.maintenance_turns')
  expect(await metric('ledger_check_age')).toBeLessThan(10)
  await fixture.run(
    `INSERT INTO money.maintenance_turns (job, replica, until, done_at, report)
     VALUES ('books-check', 'failing', now() + interval '30 s', now() - interval '20 min', '{}'),
            ('books-recheck', 'failing', now() + interval '30 s', now() - interval '40 min', '0')`,
  )
  expect(await metric('ledger_recheck_age')).toBeCloseTo(2_400, -2)
  expect(await metric('ledger_check_age')).toBeCloseTo(1_200, -2)
  expect(await metric('ledger_check_interval')).toBe(60)
})
