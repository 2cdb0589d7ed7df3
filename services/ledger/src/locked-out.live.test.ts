import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { Pool } from 'pg'
import { expect } from 'vitest'
import { liveTest } from '@gateway/testbed/live-test'
import { openLedger } from './fixtures/open-ledger.ts'

liveTest(
  'the query of the runbook finds the session that locks a ledger out',
  async ({ database, redis, onTestFinished }) => {
    const runbook = await readFile(path.join(import.meta.dirname, '../../../docs/operating.md'), 'utf8')
    const [, sql] = /^### BatchesLockedOut\n[^]*?```sql\n([^]*?)```/m.exec(runbook)!
    const ledger = await openLedger({ database, redis }, { CHECK_EVERY_SECONDS: '1' })
    onTestFinished(ledger.stop)
    const pool = new Pool({ connectionString: database.adminUrl })
    onTestFinished(() => pool.end())
    const holding = await pool.connect()
    onTestFinished(() => holding.release(true))
    const { rows } = await holding.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
    await holding.query('BEGIN; LOCK TABLE money.wallets') // which the check of the books reads
    const holders = async () => (await pool.query<{ pid: number }>(sql!)).rows.map(({ pid }) => pid)
    await expect.poll(holders).toContain(rows[0]!.pid)
  },
)
