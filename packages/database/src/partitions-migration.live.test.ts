import { randomBytes } from 'node:crypto'
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
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
        await cp(path.join(prisma, 'migrations', each), path.join(before, each), { recursive: true })
    const log = () => {}
    await migrate({ url, folders: { migrations: before, functions: path.join(prisma, 'functions') }, log })
    await ask(url, WRITE)

    expect(await migrate({ url, log })).toContain(PARTITIONS)

    const placed = (table: string, column: string) =>
      ask(url, `SELECT ${column}::text AS row, tableoid::regclass::text AS place FROM money.${table} ORDER BY 1`)
    const inPlace = await placed('attempts', 'id')
    expect(inPlace.map(({ row }) => row as string)).toEqual([
      'inv_01m44nrd00aaaaaaaaaaaaaaaa',
      'inv_01m6mg2p00bbbbbbbbbbbbbbbb',
      'strange',
    ])
    expect(inPlace.at(-1)).toEqual({ row: 'strange', place: 'money.attempts_unplanned' })
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
