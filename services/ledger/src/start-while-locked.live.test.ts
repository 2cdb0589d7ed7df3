import { Client } from 'pg'
import { expect } from 'vitest'
import { liveTest } from '@gateway/testbed/live-test'
import { openLedger } from './fixtures/open-ledger.ts'

// Starting does not depend on maintenance: a ledger becomes ready while the tables it maintains are locked.

for (const mode of ['ACCESS SHARE', 'ACCESS EXCLUSIVE']) {
  liveTest(
    `a ledger starts while the saved answers are locked in ${mode} mode`,
    async ({ database, redis, onTestFinished }) => {
      const client = new Client({ connectionString: database.adminUrl })
      await client.connect()
      onTestFinished(() => client.end())
      await client.query(`BEGIN; LOCK TABLE money.answers, money.idempotency_keys, money.executions IN ${mode} MODE`)
      const ledger = await openLedger({ database, redis })
      onTestFinished(ledger.stop)
      expect(ledger.isRunning).toBe(true)
      await client.query('ROLLBACK') // so that the ledger stops sooner
    },
  )
}
