import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { Pool } from 'pg'
import { expect } from 'vitest'
import { liveTest } from '@gateway/testbed/live-test'

const FILES_OF_THE_ARCHIVE = / FROM line\b/ // in another database

liveTest('Postgres plans each query of the runbook', async ({ database, onTestFinished }) => {
  const runbook = await readFile(path.join(import.meta.dirname, '../../../docs/operating.md'), 'utf8')
  const inText = [...runbook.matchAll(/`((?:SELECT|UPDATE) [^`]+)`/g)].map(([, sql]) => sql!)
  const inBlocks = [...runbook.matchAll(/```sql\n([^]*?)```/g)].flatMap(([, block]) => block!.split(/;\n/))
  // Such as: (`pg_stat_activity`, oldest `xact_start`).
  const columns = [...runbook.matchAll(/`(pg_\w+)`,(?: [a-z]+)*\s`(\w+)\b[^`]*`/g)].map(
    ([, view, column]) => `SELECT ${column} FROM ${view}`,
  )
  const queries = [...inText, ...inBlocks, ...columns].filter(
    (sql) => /^(SELECT|UPDATE) /.test(sql) && !FILES_OF_THE_ARCHIVE.test(sql),
  )
  expect(queries.length).toBeGreaterThan(25)

  const pool = new Pool({ connectionString: database.adminUrl })
  onTestFinished(() => pool.end())
  const problems: [sql: string, problem: string][] = []
  for (const sql of queries) {
    const filled = sql.replaceAll(/'<\w+>'/g, `'2026-11-22'`).replaceAll(/<\w+>/g, '0')
    await pool.query(`EXPLAIN ${filled}`).catch((error: Error) => problems.push([sql, error.message]))
  }
  expect(problems).toEqual([])
})
