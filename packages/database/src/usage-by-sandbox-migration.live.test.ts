import { randomBytes } from 'node:crypto'
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ask } from '@gateway/testbed/ask'
import { liveTest } from '@gateway/testbed/live-test'
import { expect } from 'vitest'
import { withDatabase } from './database-url.ts'
import { migrate } from './migrate.ts'

// Usage that was rolled up before flows were told apart is told apart afterwards, as far as its executions and its journal
// are there; and adds up to the same.

const prisma = path.resolve(import.meta.dirname, '../../../prisma')
const FLOWS = '20261123060000_usage_by_sandbox'

const WRITE = `
  INSERT INTO money.executions (id, project, sandbox, revision, person, surface, status, created_at, deadline_at)
  VALUES ('exe_1', 'p', 'sbx-1', 1, 'per_1', 'invoke', 'Running', now(), now());
  INSERT INTO money.attempts (id, invocation, attempt, state, project, product, key, reserved_micro, charged_micro, prompt_tokens,
                              completion_tokens, execution, node, admitted_at, closed_at)
  SELECT 'inv_' || n, 'inv_' || n, 1, 'Settled', 'p', 'acme/' || m, '', 9, n, 1, 2, e, CASE WHEN e IS NOT NULL THEN 'ask' END, at, at
    FROM (VALUES (1, 'a', NULL, timestamptz '2026-11-05T08:10:00Z'), (2, 'a', 'exe_1', '2026-11-05T08:20:00Z'),
                 (3, 'b', 'exe_1', '2026-11-05T08:30:00Z'), (4, 'b', 'exe_dropped', '2026-11-05T09:30:00Z'),
                 (5, 'a', 'exe_1', '2026-11-05T09:40:00Z')) c (n, m, e, at);
  INSERT INTO money.journal (project, seq, kind, reference, available, reserved, settled, outside, at)
  SELECT 'p', n, 'settle', 'inv_' || n, 0, -n, n, 0, '2026-11-05T10:00:00Z' FROM generate_series(1, 5) n;
  INSERT INTO money.usage_positions (project, seq, at, micro) VALUES ('p', 4, '2026-11-05T10:00:00Z', 10);
  INSERT INTO money.usage_hours (project, hour, product, key, calls, prompt_tokens, completion_tokens, micro)
  VALUES ('p', '2026-11-05T08:00:00Z', 'acme/a', '', 2, 2, 4, 3), ('p', '2026-11-05T08:00:00Z', 'acme/b', '', 1, 1, 2, 3),
         ('p', '2026-11-05T09:00:00Z', 'acme/b', '', 1, 1, 2, 4);
  INSERT INTO money.usage_days (project, day, product, key, calls, prompt_tokens, completion_tokens, micro)
  VALUES ('p', '2026-11-05', 'acme/a', '', 2, 2, 4, 3), ('p', '2026-11-05', 'acme/b', '', 2, 2, 4, 7)`

liveTest(
  'what was rolled up before flows were told apart is told apart, and adds up to the same',
  async ({ database, onTestFinished }) => {
    const name = `svc_flows_${randomBytes(6).toString('hex')}`
    const url = withDatabase(database.adminUrl, name)
    const before = await mkdtemp(path.join(tmpdir(), 'svc-before-'))
    onTestFinished(async () => {
      await rm(before, { recursive: true })
      await ask(database.adminUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
    })
    for (const each of await readdir(path.join(prisma, 'migrations')))
      if (each !== FLOWS)
        // what the views of today read is there
        await cp(path.join(prisma, 'migrations', each), path.join(before, 'migrations', each), { recursive: true })
    const folders = { migrations: path.join(before, 'migrations'), functions: path.join(prisma, 'functions') }
    const log = () => {}
    await migrate({ url, folders, log })
    await ask(url, WRITE)

    expect(await migrate({ url, log })).toContain(FLOWS)

    const hours = `SELECT to_char(hour AT TIME ZONE 'UTC', 'HH24') AS hour, product, sandbox, calls::int, prompt_tokens::int AS prompt,
                          completion_tokens::int AS completion, micro::int FROM money.usage_hours ORDER BY 1, 2, 3`
    const one = { calls: 1, prompt: 1, completion: 2 }
    expect(await ask(url, hours)).toEqual([
      { ...one, hour: '08', product: 'acme/a', sandbox: '', micro: 1 },
      { ...one, hour: '08', product: 'acme/a', sandbox: 'sbx-1', micro: 2 },
      { ...one, hour: '08', product: 'acme/b', sandbox: 'sbx-1', micro: 3 },
      { ...one, hour: '09', product: 'acme/b', sandbox: '', micro: 4 },
    ])
    expect(await ask(url, hours.replace('hour AT', 'day AT').replace('usage_hours', 'usage_days'))).toEqual([
      { ...one, hour: '00', product: 'acme/a', sandbox: '', micro: 1 },
      { ...one, hour: '00', product: 'acme/a', sandbox: 'sbx-1', micro: 2 },
      { ...one, hour: '00', product: 'acme/b', sandbox: '', micro: 4 },
      { ...one, hour: '00', product: 'acme/b', sandbox: 'sbx-1', micro: 3 },
    ])
  },
)
