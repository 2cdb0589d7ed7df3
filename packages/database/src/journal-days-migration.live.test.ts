import { randomBytes } from 'node:crypto'
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ask } from '@gateway/testbed/ask'
import { liveTest } from '@gateway/testbed/live-test'
import { expect } from 'vitest'
import { withDatabase } from './database-url.ts'
import { migrate } from './migrate.ts'

// Books that were rolled up before there were days of the journal have them afterwards, up to the same entry; what was
// archived by then is one row.

const prisma = path.resolve(import.meta.dirname, '../../../prisma')
const DAYS = '20261123020000_journal_days'

const WRITE = `
  INSERT INTO money.attempts (id, invocation, attempt, state, project, product, reserved_micro, charged_micro, closed_at)
  VALUES ('inv_1', 'inv_1', 1, 'Settled', 'p', 'acme/m', 5, 3, '2026-11-05');
  INSERT INTO money.journal (project, seq, kind, reference, available, reserved, settled, outside, at)
  VALUES ('p', 1, 'fund', 'f', 9, 0, 0, -9, '2026-11-04T23:59:59.999Z'),
         ('p', 2, 'reserve', 'inv_1', -5, 5, 0, 0, '2026-11-05'), ('p', 3, 'settle', 'inv_1', 2, -5, 3, 0, '2026-11-05'),
         ('p', 4, 'fund', 'g', 1, 0, 0, -1, '2026-11-06'),
         ('q', 7, 'fund', 'f', 4, 0, 0, -4, '2026-11-05'), ('q', 6, 'fund', 'e', 1, 0, 0, -1, '2026-08-05');
  INSERT INTO money.usage_positions (project, seq, at, micro) VALUES ('p', 3, '2026-11-05', 3), ('q', 7, '2026-11-05', 2);
  INSERT INTO money.archived_wallets (project, month, seq, at, funded, reserved, settled, seal, windows)
  VALUES ('q', '2026-08-01', 6, '2026-08-31T22:00:00Z', 20, 1, 2, '', '[]')`

liveTest(
  'what was rolled up before there were days of the journal is in them',
  async ({ database, onTestFinished }) => {
    const name = `svc_days_${randomBytes(6).toString('hex')}`
    const url = withDatabase(database.adminUrl, name)
    const before = await mkdtemp(path.join(tmpdir(), 'svc-before-'))
    onTestFinished(async () => {
      await rm(before, { recursive: true })
      await ask(database.adminUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
    })
    for (const each of await readdir(path.join(prisma, 'migrations')))
      if (each !== DAYS)
        // what the views of today read is there
        await cp(path.join(prisma, 'migrations', each), path.join(before, 'migrations', each), { recursive: true })
    const folders = { migrations: path.join(before, 'migrations'), functions: path.join(prisma, 'functions') }
    const log = () => {}
    await migrate({ url, folders, log })
    await ask(url, WRITE)

    expect(await migrate({ url, log })).toContain(DAYS)

    const days = `SELECT project, day::text, kind, product, entries::int, reserved::int, settled::int, outside::int
                  FROM money.journal_days ORDER BY 1, 2, 3`
    const none = { product: '', entries: 1, reserved: 0, settled: 0, outside: 0 }
    expect(await ask(url, days)).toEqual([
      { ...none, project: 'p', day: '2026-11-04', kind: 'fund', outside: -9 },
      { ...none, project: 'p', day: '2026-11-05', kind: 'reserve', reserved: 5 },
      { ...none, project: 'p', day: '2026-11-05', kind: 'settle', product: 'acme/m', reserved: -5, settled: 3 },
      { ...none, project: 'q', day: '2026-08-31', kind: 'opening', entries: 6, reserved: 1, settled: 2, outside: -20 },
      { ...none, project: 'q', day: '2026-11-05', kind: 'fund', outside: -4 },
    ])
  },
)
