import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'vitest'
import { test } from '../fixtures/ledger-test.ts'

const operating = readFileSync(path.join(import.meta.dirname, '../../../../docs/operating.md'), 'utf8')

test('the runbook’s query for the calls of a leaked key uses the key index', async ({ fixture }) => {
  const [, section = ''] = operating.split('## A secret has leaked')
  const query = /```sql\n(.*?)```/s.exec(section)?.[1] ?? ''
  expect(query).toContain('money.attempts')
  await fixture.run('SET enable_seqscan = off') // the table is empty here, so Postgres would prefer a sequential scan
  const { rows } = await fixture.run(`EXPLAIN ${query.replace('<key>', 'key_1').replace('<since>', '2026-11-22')}`)
  await fixture.run('RESET enable_seqscan')
  const plan = (rows as { 'QUERY PLAN': string }[]).map((row) => row['QUERY PLAN']).join('\n')
  expect(plan).toMatch(/Index Cond: \(\(key = 'key_1'::text\) AND \(admitted_at >= /)
})
