import { mkdtemp, rm, stat, readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { openDatabase } from '@gateway/database/client'
import type { Fixture } from '@gateway/testbed/fixture'
import { archiveBooks, checkArchive } from '../stack/ledger-parts.ts'

// Archives a grown ledger: the duration, the size of the files, and what remains in the database.

/** The lowest allowed value, so that as many months as possible are archived. */
const AFTER_DAYS = 31

export interface ArchivedGrowth {
  /** Calls whose entries were archived. */
  calls: number
  seconds: number
  fileBytes: number
  /** Size of the whole database. */
  before: number
  after: number
}

/** Archives every month that is allowed, and checks the files. @throws if they differ from the ledger */
export async function archiveGrowth(
  fixture: Fixture,
  { adminUrl, ledgerUrl }: { adminUrl: string; ledgerUrl: string },
  log: (line: string) => void,
): Promise<ArchivedGrowth> {
  const folder = await mkdtemp(path.join(tmpdir(), 'growth-archive-'))
  const owner = await openDatabase({ url: adminUrl, poolSize: 1, queryLimitMs: 600_000, role: 'bench-archive' })
  const ledger = await openDatabase({ url: ledgerUrl, poolSize: 1, queryLimitMs: 600_000, role: 'bench-archive' })
  try {
    const before = await databaseBytes(fixture)
    const startMs = performance.now()
    await archiveBooks(owner, { folder, afterDays: AFTER_DAYS, before: null, log })
    const seconds = (performance.now() - startMs) / 1_000
    const { entries, findings } = await checkArchive(folder, { database: ledger })
    if (findings.length > 0) throw new Error(`The archive is wrong:\n${findings.join('\n')}`)
    const names = await readdir(folder)
    const sizes = await Promise.all(names.map(async (name) => (await stat(path.join(folder, name))).size))
    return {
      calls: entries / 2,
      seconds,
      fileBytes: sizes.reduce((sum, size) => sum + size, 0),
      before,
      after: await databaseBytes(fixture),
    }
  } finally {
    await owner.close()
    await ledger.close()
    await rm(folder, { recursive: true, force: true })
  }
}

async function databaseBytes(fixture: Fixture): Promise<number> {
  const { rows } = await fixture.run('SELECT pg_database_size(current_database())::float8 AS bytes')
  return (rows as [{ bytes: number }])[0].bytes
}
