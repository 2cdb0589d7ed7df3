import { expect } from 'vitest'
import { openDatabase } from '@gateway/database/client'
import { startFaultProxy } from '@gateway/testbed/fault-proxy'
import { test } from './fixtures/ledger-test.ts'
import { booksDecide } from './health.ts'

test('a ledger is ready if its database decides an empty batch, and not ready if the function is missing', async ({
  replica,
  fixture,
}) => {
  const check = booksDecide(replica)
  expect(await check()).toBe(null)
  await fixture.run('ALTER FUNCTION money.run_batch RENAME TO run_batch_away')
  expect(await check()).toBe('refuses a batch of nothing: is the database migrated?')
  await fixture.run('ALTER FUNCTION money.run_batch_away RENAME TO run_batch')
  expect(await check()).toBe(null)
})

test('a ledger whose database does not respond is not ready', async ({ database, onTestFinished }) => {
  const { hostname, port } = new URL(database.ledgerUrl)
  const proxy = await startFaultProxy({ host: hostname, port: Number(port) })
  const reads = await openDatabase({ url: proxy.through(database.ledgerUrl), poolSize: 1, queryLimitMs: 200 })
  onTestFinished(async () => {
    await reads.close()
    await proxy.close()
  })
  const check = booksDecide({ reads })
  proxy.fallSilent()
  expect(await check()).toBe('does not answer')
  expect(await check()).toBe(null)
})
