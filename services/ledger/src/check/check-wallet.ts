import type { Database } from '@gateway/database/client'
import { readStart, saveCheckpoint, type Start } from './checkpoint.ts'
import { compareBalances } from './compare-balances.ts'
import { type Checkpoint, type Finding, foldJournal, type SpentByWindow } from './fold-journal.ts'
import { readBlock, readBooks, STEP } from './read-books.ts'

// One wallet's books, derived again from its journal (money §9).
//   C1  Entries are folded in steps of a few thousand up to a checkpoint; entries never change, so steps need no common
//       view.
//   C2  The last step is one statement, so its view of wallet, meters, open reservations and newest entries is one
//       moment's.
//   C3  No step holds a lock or lasts a second: admissions continue.
//   C4  Anything that is found, the checkpoint moves on. What is wrong with an entry is remembered with its block, which is
//       looked at again; what is wrong with a balance shows each time.
//   C5  Once the entries are mended, the journal is folded again: what they added to the sums was wrong as well.
//   C6  Partitions before the checkpoint are not read, unless an entry is missing.
//   C7  Entries that were archived meanwhile are not findings: the check begins again behind them.

type Prisma = Database['prisma']

const CLOCK_MS = 3_600_000

/** Checks one wallet from where the last check ended, or from the first entry that is left if `whole`. Answers what does not add up. */
export async function checkWallet(
  { prisma }: Pick<Database, 'prisma'>,
  project: string,
  whole: boolean,
): Promise<Finding[]> {
  for (let start = await readStart(prisma, project, whole); ;) {
    const findings = await checkFrom(prisma, project, start)
    if (findings.length === 0) return findings
    const now = await readStart(prisma, project, true)
    if (now.archived === start.archived) return findings
    start = now // C7
  }
}

async function checkFrom(prisma: Prisma, project: string, start: Start): Promise<Finding[]> {
  const wrong = await refresh(prisma, project, start)
  const isMended = start.remembered.length > 0 && wrong.length === 0
  if (isMended) return fold(prisma, project, await readStart(prisma, project, true), [])
  return fold(prisma, project, start, wrong)
}

/** What is still wrong with the entries that were remembered (C4). */
async function refresh(prisma: Prisma, project: string, { remembered }: Start): Promise<Finding[]> {
  const blocks = new Map(remembered.map((block) => [block.after, block]))
  const findings: Finding[] = []
  for (const block of blocks.values()) {
    const from = { seq: block.after, at: null, funded: 0n, reserved: 0n, settled: 0n, seal: block.seal }
    const entries = await readBlock(prisma, project, block)
    const step = foldJournal(from, entries)
    findings.push(...step.findings)
    if (step.to.seq < block.last) findings.push({ ...unsealed(block.last), block }) // its last entry or its seal is gone
  }
  return findings
}

function unsealed(seq: bigint): Finding {
  const what = 'the block is not there up to its end'
  return { what, where: `journal entry ${seq}`, expectedMicro: 0n, foundMicro: 0n }
}

async function fold(prisma: Prisma, project: string, start: Start, wrong: Finding[]): Promise<Finding[]> {
  const findings = [...wrong]
  const spent: SpentByWindow = new Map()
  for (let at = start.at; ;) {
    const { books, step } = await readStep(prisma, project, at)
    if (!books) return findings
    findings.push(...step.findings)
    addSpent(spent, step.spent)
    const stuck = books.list.length === STEP && step.to.seq === at.seq // no block is that long: a seal is missing
    at = step.to
    if (books.list.length < STEP || stuck) {
      const all = new Map(start.known)
      addSpent(all, spent)
      findings.push(...compareBalances(project, at, books, all))
      const { from } = start
      await saveCheckpoint(prisma, project, { from, to: at, spent: from === null ? all : spent, findings })
      return findings
    }
  }
}

/**
 * The next entries, folded. They are looked for from an hour before the last one on, because the clock of a database may
 * go back by seconds; where something is missing so, in all partitions (C6).
 */
async function readStep(prisma: Prisma, project: string, at: Checkpoint) {
  for (const since of at.at === null ? [null] : [new Date(at.at.getTime() - CLOCK_MS), null]) {
    const books = await readBooks(prisma, project, at.seq, since)
    const step = foldJournal(at, books?.list ?? [])
    const isWhole = !books || books.list.length === STEP || step.to.seq === books.journal_seq
    if (since === null || (isWhole && step.findings.length === 0)) return { books, step }
  }
  throw new Error('unreachable: the last look has no bound')
}

function addSpent(into: SpentByWindow, more: SpentByWindow): void {
  for (const [name, window] of more) into.set(name, { ...window, micro: (into.get(name)?.micro ?? 0n) + window.micro })
}

// Which wallets a check has to look at. Both questions are one statement for all wallets, so that a wallet that stands
// still costs a row of it and nothing more.

const COMPARISONS_PER_BATCH = 2_000

/** Wallets that are not as their last check left them, and those that had a finding then. */
export async function walletsThatMoved({ prisma }: Pick<Database, 'prisma'>): Promise<string[]> {
  const rows = await prisma.$queryRawUnsafe<{ project: string }[]>(
    `SELECT w.project FROM money.wallets w
       LEFT JOIN money.checked_wallets c ON c.project = w.project
      WHERE c.project IS NULL OR c.findings <> '[]'
         OR (c.seq, c.funded, c.reserved, c.settled, c.seal) <> (w.journal_seq, w.funded, w.reserved, w.settled, w.seal)
      ORDER BY w.project`,
  )
  return rows.map(({ project }) => project)
}

/**
 * Compares the open reservations and the meters of wallets that were not looked at for an hour, a part of them at once.
 * Answers those of which they don't fit, and notes the others as looked at.
 */
export async function walletsThatDiffer({ prisma }: Pick<Database, 'prisma'>): Promise<string[]> {
  const part = await prisma.$queryRawUnsafe<{ project: string }[]>(
    `SELECT project FROM money.checked_wallets WHERE checked_at < now() - interval '1 hour' ORDER BY checked_at LIMIT $1`,
    COMPARISONS_PER_BATCH,
  )
  if (part.length === 0) return []
  const rows = await prisma.$queryRawUnsafe<{ project: string }[]>(
    `WITH part AS MATERIALIZED (
       SELECT c.project, w.reserved FROM money.checked_wallets c JOIN money.wallets w ON w.project = c.project
        WHERE c.project = ANY ($1::text[]) AND c.seq = w.journal_seq -- the others have moved
     ), open AS MATERIALIZED (
       SELECT project, lineage, window_start, sum(micro) AS micro FROM money.reservations
        WHERE project = ANY ($1::text[]) GROUP BY 1, 2, 3
     ), spent AS MATERIALIZED (
       SELECT project, lineage, window_start, spent FROM money.checked_meters WHERE project = ANY ($1::text[])
     ), meter AS MATERIALIZED (
       SELECT project, lineage, window_start, spent, reserved FROM money.meters WHERE project = ANY ($1::text[])
     ), differs AS MATERIALIZED (
       SELECT p.project FROM part p
         LEFT JOIN (SELECT project, sum(micro) AS micro FROM open GROUP BY 1) o ON o.project = p.project
        WHERE p.reserved <> coalesce(o.micro, 0)
       UNION
       SELECT m.project FROM meter m
         LEFT JOIN open o ON o.lineage = m.lineage AND o.window_start = m.window_start
         LEFT JOIN spent s ON s.lineage = m.lineage AND s.window_start = m.window_start
        WHERE m.reserved <> coalesce(o.micro, 0) OR m.spent <> coalesce(s.spent, 0)
       UNION
       SELECT u.project
         FROM (SELECT project, lineage, window_start FROM open WHERE window_start IS NOT NULL
               UNION ALL SELECT project, lineage, window_start FROM spent) u
         LEFT JOIN meter m ON m.lineage = u.lineage
        WHERE coalesce(m.window_start < u.window_start, true)
     ), looked_at AS (
       UPDATE money.checked_wallets c SET checked_at = clock_timestamp() FROM part p
        WHERE c.project = p.project AND NOT EXISTS (SELECT FROM differs d WHERE d.project = p.project)
     )
     SELECT d.project FROM differs d JOIN part p ON p.project = d.project ORDER BY 1`,
    part.map(({ project }) => project),
  )
  return rows.map(({ project }) => project)
}
