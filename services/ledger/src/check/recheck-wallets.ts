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
// finding is rechecked each time, at the same entries, until it is fixed. One that cannot be rechecked, because a
// statement exceeds its time limit for example, keeps its findings and is retried: each time a few of those, so that
// rounds keep failing while one of them does (alert BooksNotRechecked).

const WALLETS = 20
/** Few, because each may take until its statements exceed their time limit. */
const RETRIES = 3

interface Position {
  project: string
  seq: bigint
  seal: Uint8Array
}

interface NextPosition extends Position {
  /** Number at the last recheck. */
  findings: number
}

interface RecheckReport extends Report {
  /** Number of findings, including earlier ones of wallets whose recheck failed. */
  open: number
  /** One for each wallet whose recheck failed. */
  errors: Error[]
}

/** Rechecks some wallets, a few whose last recheck failed, and every wallet that has findings. */
export async function recheckWallets(
  { prisma }: Pick<Database, 'prisma'>,
  wallets: number = WALLETS,
): Promise<RecheckReport> {
  const report: RecheckReport = { wallets: 0, findings: [], open: 0, errors: [] }
  for (const position of await nextPositions({ prisma }, wallets)) {
    const { project } = position
    const { findings, next, error } = await recheckWallet({ prisma }, position)
    if (error !== null) report.errors.push(new Error(`recheck of ${project} failed`, { cause: error }))
    const open = error === null ? findings.length : Math.max(findings.length, position.findings)
    await savePosition({ prisma }, open > 0 ? position : next, { findings: open, failed: error !== null })
    for (const finding of findings) report.findings.push({ project, ...finding })
    report.open += open
    report.wallets++
    await nextTurn() // calls that arrived meanwhile go first
  }
  return report
}

/** Returns every wallet with a finding, a few that failed and `wallets` others, behind archived entries (money §9.4). */
function nextPositions({ prisma }: Pick<Database, 'prisma'>, wallets: number): Promise<NextPosition[]> {
  return prisma.$queryRaw<NextPosition[]>`
    SELECT w.project, CASE WHEN r.seq > coalesce(a.seq, 0) THEN r.seq ELSE coalesce(a.seq, 0) END AS seq,
           CASE WHEN r.seq > coalesce(a.seq, 0) THEN r.seal ELSE coalesce(a.seal, '') END AS seal,
           coalesce(r.findings, 0) AS findings
      FROM ((SELECT project FROM money.rechecked_wallets WHERE findings > 0)
            UNION
            (SELECT project FROM money.rechecked_wallets WHERE failed ORDER BY at LIMIT ${RETRIES}::int)
            UNION
            (SELECT w.project FROM money.wallets w LEFT JOIN money.rechecked_wallets r ON r.project = w.project
              WHERE coalesce(r.findings, 0) = 0 AND w.journal_seq > 0
              ORDER BY r.at NULLS FIRST LIMIT ${wallets}::int)) w
      LEFT JOIN money.rechecked_wallets r ON r.project = w.project
      LEFT JOIN money.archived_wallets a ON a.project = w.project`
}

/** The error ends the recheck of this wallet; what was found before it counts. */
async function recheckWallet(
  { prisma }: Pick<Database, 'prisma'>,
  position: Position,
): Promise<{ findings: Finding[]; next: Position; error: unknown }> {
  const findings: Finding[] = []
  let next = position
  try {
    const part = await recheckPart({ prisma }, position)
    findings.push(...part.findings)
    next = part.next
    findings.push(...(await checkUsage({ prisma }, position.project, 'sums')))
    findings.push(...(await checkJournalDays({ prisma }, position.project, 'sums')))
    return { findings, next, error: null }
  } catch (error) {
    return { findings, next, error }
  }
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

/** Saves a position whose block still exists or is archived. */
async function savePosition(
  { prisma }: Pick<Database, 'prisma'>,
  { project, seq, seal }: Position,
  { findings, failed }: { findings: number; failed: boolean },
): Promise<void> {
  await prisma.$executeRaw`
    INSERT INTO money.rechecked_wallets (project, seq, seal, findings, failed, at)
    SELECT ${project}, ${seq}::bigint, ${seal}::bytea, ${findings}::int, ${failed}::boolean, clock_timestamp()
     WHERE ${seq}::bigint = 0 OR ${findings}::int > 0 OR money.has_block(${project}, ${seq}::bigint, ${seal}::bytea)
        OR EXISTS (SELECT FROM money.archived_wallets a WHERE a.project = ${project} AND a.seq >= ${seq}::bigint)
    ON CONFLICT (project) DO UPDATE SET
      seq = excluded.seq, seal = excluded.seal, findings = excluded.findings, failed = excluded.failed, at = excluded.at`
}
