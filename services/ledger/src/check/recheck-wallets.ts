import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Database } from '@gateway/database/client'
import type { Report } from './check-books.ts'
import { checkJournalDays } from './check-journal-days.ts'
import { checkUsage } from './check-usage.ts'
import { readStart } from './checkpoint.ts'
import { foldJournal, type Finding } from './fold-journal.ts'
import { readEntries, STEP } from './read-books.ts'

// Rechecks what is behind the checkpoints: some wallets each time, those that were not rechecked for longest first. For
// each, the next part of its journal and the sums of its hourly usage and of its days (money §9.1). A wallet with a
// finding is rechecked each time, at the same entries, until it is fixed.

const WALLETS = 20

interface Position {
  project: string
  seq: bigint
  seal: Uint8Array
}

/** Rechecks some wallets. Returns what does not add up. */
export async function recheckWallets({ prisma }: Pick<Database, 'prisma'>, wallets: number = WALLETS): Promise<Report> {
  const report: Report = { wallets: 0, findings: [] }
  for (const position of await nextPositions({ prisma }, wallets)) {
    const { project } = position
    const { findings, next } = await recheckPart({ prisma }, position)
    findings.push(...(await checkUsage({ prisma }, project, 'sums')))
    findings.push(...(await checkJournalDays({ prisma }, project, 'sums')))
    await savePosition({ prisma }, findings.length > 0 ? position : next, findings.length)
    for (const finding of findings) report.findings.push({ project, ...finding })
    report.wallets++
    await nextTurn() // calls that arrived meanwhile go first
  }
  return report
}

/** Returns every wallet with a finding and `wallets` others, each behind its archived entries (money §9.4). */
function nextPositions({ prisma }: Pick<Database, 'prisma'>, wallets: number): Promise<Position[]> {
  return prisma.$queryRaw<Position[]>`
    SELECT w.project, CASE WHEN r.seq > coalesce(a.seq, 0) THEN r.seq ELSE coalesce(a.seq, 0) END AS seq,
           CASE WHEN r.seq > coalesce(a.seq, 0) THEN r.seal ELSE coalesce(a.seal, '') END AS seal
      FROM ((SELECT project FROM money.rechecked_wallets WHERE findings > 0)
            UNION ALL
            (SELECT w.project FROM money.wallets w LEFT JOIN money.rechecked_wallets r ON r.project = w.project
              WHERE coalesce(r.findings, 0) = 0 AND w.journal_seq > 0
              ORDER BY r.at NULLS FIRST LIMIT ${wallets}::int)) w
      LEFT JOIN money.rechecked_wallets r ON r.project = w.project
      LEFT JOIN money.archived_wallets a ON a.project = w.project`
}

async function recheckPart(
  { prisma }: Pick<Database, 'prisma'>,
  position: Position,
): Promise<{ findings: Finding[]; next: Position }> {
  const { project, seq, seal } = position
  const from = { seq, at: null, seal: Buffer.from(seal), funded: 0n, reserved: 0n, settled: 0n }
  const entries = await readEntries(prisma, project, seq)
  const { to, findings } = foldJournal(from, entries)
  if (findings.length > 0 && (await readStart(prisma, project, true)).archived > seq)
    return { findings: [], next: position } // archived meanwhile: the next recheck starts behind that
  const isEnd = entries.length < STEP || to.seq === seq
  const next = isEnd ? { project, seq: 0n, seal: Buffer.alloc(0) } : { project, seq: to.seq, seal: to.seal }
  return { findings, next }
}

async function savePosition(
  { prisma }: Pick<Database, 'prisma'>,
  { project, seq, seal }: Position,
  findings: number,
): Promise<void> {
  await prisma.$executeRaw`
    INSERT INTO money.rechecked_wallets (project, seq, seal, findings, at)
    SELECT ${project}, ${seq}::bigint, ${seal}::bytea, ${findings}::int, clock_timestamp()
     WHERE ${seq}::bigint = 0 OR ${findings}::int > 0 OR money.has_block(${project}, ${seq}::bigint, ${seal}::bytea)
    ON CONFLICT (project) DO UPDATE SET
      seq = excluded.seq, seal = excluded.seal, findings = excluded.findings, at = excluded.at`
}
