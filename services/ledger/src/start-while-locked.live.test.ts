import path from 'node:path'
import { Client } from 'pg'
import { expect } from 'vitest'
import { liveTest } from '@gateway/testbed/live-test'
import { startProgram } from '@gateway/testbed/test-program'
import { temporaryFolder } from '@gateway/testbed/test-servers'

// Upkeep is no condition of starting: a ledger is ready while somebody has the tables that it keeps in order.

for (const mode of ['ACCESS SHARE', 'ACCESS EXCLUSIVE']) {
  liveTest(
    `a ledger starts while somebody keeps the saved answers locked: ${mode}`,
    async ({ database, redis, onTestFinished }) => {
      const client = new Client({ connectionString: database.adminUrl })
      await client.connect()
      onTestFinished(() => client.end())
      await client.query(`BEGIN; LOCK TABLE money.answers, money.idempotency_keys, money.executions IN ${mode} MODE`)
      const secret = 's'.repeat(32)
      const ledger = await startProgram({
        name: 'ledger',
        entry: path.join(import.meta.dirname, 'main.ts'),
        folder: await temporaryFolder('ledger'),
        env: {
          DATABASE_URL: database.ledgerUrl,
          REDIS_URL: redis.url,
          SERVICE_SECRET_GATEWAY: secret,
          SERVICE_SECRET_WORKER: secret,
          SERVICE_SECRET_CONSOLE: secret,
        },
      })
      onTestFinished(ledger.stop)
      expect(ledger.isRunning).toBe(true)
    },
  )
}
