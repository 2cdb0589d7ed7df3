import { randomBytes } from 'node:crypto'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ask } from '@gateway/testbed/ask'
import { liveTest } from '@gateway/testbed/live-test'
import { expect } from 'vitest'
import { withDatabase } from './database-url.ts'
import { migrate } from './migrate.ts'

// Books that were written before the tables were divided by time are all there afterwards, each row in its partition.

const prisma = path.resolve(import.meta.dirname, '../../../prisma')
const PARTITIONS = '20261122151000_partitions'

/** Rows of each table that is divided, of October and November; ids that begin with their time, and one that does not. */
const WRITE = `
  INSERT INTO money.attempts (id, invocation, attempt, state, project, reserved_micro, charged_micro, closed_at, execution, node)
  VALUES ('inv_01m44nrd00aaaaaaaaaaaaaaaa', 'i', 1, 'Settled', 'p', 5, 5, '2026-10-05', NULL, NULL),
         ('inv_01m6mg2p00bbbbbbbbbbbbbbbb', 'i', 1, 'Settled', 'p', 7, 7, '2026-11-05', 'exe_01m6mg2p00cccccccccccccccc', 'n'),
         ('strange', 'i', 1, 'Released', 'p', 0, 0, '2026-11-05', NULL, NULL);
  INSERT INTO money.journal (project, seq, kind, reference, available, reserved, settled, outside, at)
  VALUES ('p', 1, 'fund', 'f', 9, 0, 0, -9, '2026-10-05'), ('p', 2, 'settle', 'inv', 0, -7, 7, 0, '2026-11-05');
  INSERT INTO money.journal_blocks (project, last_seq, seal) VALUES ('p', 1, '\\x01'), ('p', 2, '\\x02');
  INSERT INTO money.executions (id, project, sandbox, revision, person, surface, status, created_at, deadline_at)
  VALUES ('exe_01m6mg2p00cccccccccccccccc', 'p', 'sbx-a', 1, 'per', 'invoke', 'Running', now(), now());
  INSERT INTO money.execution_nodes (execution, ordinal, node, kind, project, sources, state)
  VALUES ('exe_01m6mg2p00cccccccccccccccc', 0, 'n', 'product.chat', 'p', '{}', 'Ready'),
         ('exe_01m6mg2p00cccccccccccccccc', 1, 'm', 'template', 'p', '{}', 'Pending')`

/** What the view asks of a table and of a column that were not there yet. */
const LATER = /\s+AND \(SELECT t\.id[^]*?IS NULL(?= THEN 'not_permitted')|,\s+e\.max_micro/g

/** As it was before the tables were divided. */
const REFUSE_CHANGE = `CREATE OR REPLACE FUNCTION money.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '%.% is append-only', TG_TABLE_SCHEMA, TG_TABLE_NAME;
END $$`

liveTest(
  'what was written before the tables were divided is in its partitions',
  async ({ database, onTestFinished }) => {
    const name = `svc_divide_${randomBytes(6).toString('hex')}`
    const url = withDatabase(database.adminUrl, name)
    const before = await mkdtemp(path.join(tmpdir(), 'svc-before-'))
    onTestFinished(async () => {
      await rm(before, { recursive: true })
      await ask(database.adminUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
    })
    for (const each of await readdir(path.join(prisma, 'migrations')))
      if (each < PARTITIONS)
        await cp(path.join(prisma, 'migrations', each), path.join(before, 'migrations', each), { recursive: true })
    const log = () => {}
    const functions = path.join(before, 'functions')
    await mkdir(functions)
    await cp(path.join(prisma, 'functions/money/callers.sql'), path.join(functions, 'money/callers.sql'), {
      recursive: true,
    })
    const view = await readFile(path.join(prisma, 'functions/money/execution_callers.sql'), 'utf8')
    await writeFile(path.join(functions, 'money/execution_callers.sql'), view.replace(LATER, ''))
    await writeFile(path.join(functions, 'money/refuse_change.sql'), REFUSE_CHANGE)
    await migrate({ url, folders: { migrations: path.join(before, 'migrations'), functions }, log })
    await ask(url, WRITE)

    expect(await migrate({ url, log })).toContain(PARTITIONS)

    const placed = (table: string, column: string) =>
      ask(url, `SELECT ${column}::text AS row, tableoid::regclass::text AS place FROM money.${table} ORDER BY 1`)
    expect(await placed('attempts', 'id')).toEqual([
      { row: 'inv_01m44nrd00aaaaaaaaaaaaaaaa', place: 'money.attempts_20261001' },
      { row: 'inv_01m6mg2p00bbbbbbbbbbbbbbbb', place: 'money.attempts_20261101' },
      { row: 'strange', place: 'money.attempts_unplanned' },
    ])
    expect(await placed('journal', 'seq')).toEqual([
      { row: '1', place: 'money.journal_20261001' },
      { row: '2', place: 'money.journal_20261101' },
    ])
    expect(await placed('journal_blocks', 'at')).toEqual([
      { row: '2026-10-05 00:00:00+00', place: 'money.journal_blocks_20261001' },
      { row: '2026-11-05 00:00:00+00', place: 'money.journal_blocks_20261101' },
    ])
    expect(await ask(url, 'SELECT node, charge FROM money.execution_nodes ORDER BY ordinal')).toEqual([
      { node: 'n', charge: 'inv_01m6mg2p00bbbbbbbbbbbbbbbb' },
      { node: 'm', charge: null },
    ])
    expect(await ask(url, `SELECT execution, project FROM money.execution_callers`)).toEqual([
      { execution: 'exe_01m6mg2p00cccccccccccccccc', project: 'p' },
    ])
    await expect(ask(url, 'DELETE FROM money.journal_20261001')).rejects.toThrow('append-only')
  },
)
