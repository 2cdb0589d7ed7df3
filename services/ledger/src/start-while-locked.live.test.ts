import { Client } from 'pg'
import { expect } from 'vitest'
import { liveTest } from '@gateway/testbed/live-test'
import { openLedger } from './fixtures/open-ledger.ts'

// Upkeep is not a condition of starting: a ledger is ready while someone has the tables that it keeps in order.

for (const mode of ['ACCESS SHARE', 'ACCESS EXCLUSIVE']) {
  liveTest(
    `a ledger starts while someone keeps the saved answers locked: ${mode}`,
    async ({ database, redis, onTestFinished }) => {
      const client = new Client({ connectionString: database.adminUrl })
      await client.connect()
      onTestFinished(() => client.end())
      await client.query(`BEGIN; LOCK TABLE money.answers, money.idempotency_keys, money.executions IN ${mode} MODE`)
      const ledger = await openLedger({ database, redis })
      onTestFinished(ledger.stop)
      expect(ledger.isRunning).toBe(true)
      await client.query('ROLLBACK') // it stops sooner
    },
  )
}
