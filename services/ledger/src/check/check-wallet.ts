import type { Database } from '@gateway/database/client'
import { readStart, saveCheckpoint, type Start } from './checkpoint.ts'
import {
  type Checkpoint,
  type Finding,
  foldJournal,
  type SpentByWindow,
  isOfBudget,
  windowName,
} from './fold-journal.ts'
import { readBlock, readBooks, STEP, type Balances } from './read-books.ts'

// Derives one wallet's books again from its journal (money §9).
//   C1  Entries are folded in steps of a few thousand up to a checkpoint. Entries never change, so the steps need no
//       common snapshot.
//   C2  The last step is one statement, so it sees wallet, meters, open reservations and newest entries in one
//       snapshot.
//   C3  No step holds a lock or lasts a second: admissions continue.
//   C4  The checkpoint advances regardless of findings. A finding about an entry is remembered with its block, which is
//       checked again each time; a finding about a balance reappears by itself.
//   C5  Once the entries are repaired, the journal is folded again, because the wrong entries were part of the sums.
//   C6  Partitions before the checkpoint are not read, unless an entry is missing.
//   C7  Entries that were archived meanwhile are not findings: the check starts again after them.

type Prisma = Database['prisma']

const CLOCK_MS = 3_600_000

/**
 * Checks one wallet from its last checkpoint, or if `whole` from the first entry that is not archived. Returns what
 * does not add up.
 */
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

/** Returns what is still wrong with the remembered entries (C4). */
async function refresh(prisma: Prisma, project: string, { remembered }: Start): Promise<Finding[]> {
  const blocks = new Map(remembered.map((block) => [block.after, block]))
  const findings: Finding[] = []
  for (const block of blocks.values()) {
    const from = { seq: block.after, at: null, funded: 0n, reserved: 0n, settled: 0n, seal: block.seal }
    const entries = await readBlock(prisma, project, block)
    const step = foldJournal(from, entries)
    findings.push(...step.findings)
    if (step.to.seq < block.last) findings.push({ ...unsealed(block.last), block }) // its last entry or seal is missing
  }
  return findings
}

function unsealed(seq: bigint): Finding {
  const what = 'the last entry or the seal of this block is missing'
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
    const stuck = books.list.length === STEP && step.to.seq === at.seq // no block is that long, so a seal is missing
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
 * Reads and folds the next entries. Searches from an hour before the last entry, because the database's clock may go
 * back by seconds; if an entry is missing there, in all partitions (C6).
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

// Selects the wallets that need a check. Each selection is one statement for all wallets, so an idle wallet costs no
// more than a row.

const COMPARISONS_PER_BATCH = 2_000

/** Returns wallets that have changed since their last check, and those that had a finding then. */
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
 * Compares the open reservations and meters of wallets that were not checked for an hour, a limited number at a time.
 * Returns the wallets that differ and marks the others as checked.
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
       SELECT project, lineage, window_start, spent FROM money.checked_meters
        WHERE project = ANY ($1::text[]) AND NOT starts_with(lineage, 'bud_')
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

/** Returns the differences between a wallet with its meters and open reservations, and its journal. */
function compareBalances(project: string, at: Checkpoint, found: Balances, spent: SpentByWindow): Finding[] {
  const findings: Finding[] = []
  const same = (what: string, where: string, expectedMicro: bigint, foundMicro: bigint) => {
    if (expectedMicro !== foundMicro) findings.push({ what, where, expectedMicro, foundMicro })
  }
  const wallet = `wallet ${project}`
  same('funded differs from the journal', wallet, at.funded, found.funded)
  same('reserved differs from the journal', wallet, at.reserved, found.reserved)
  same('settled differs from the journal', wallet, at.settled, found.settled)
  same('reserved differs from the open reservations', wallet, found.open_micro, found.reserved)
  same('the journal has fewer entries than the wallet records', wallet, found.journal_seq, at.seq)
  if (!at.seal.equals(found.seal))
    findings.push({ what: 'the seal differs from the journal', where: wallet, expectedMicro: 0n, foundMicro: 0n })
  if (found.settled + found.reserved > found.funded)
    findings.push({
      what: 'reserved and settled exceed funded',
      where: wallet,
      expectedMicro: found.funded,
      foundMicro: found.settled + found.reserved,
    })
  // If a window with spending or reservations is later than that of its meter, or has no meter, its key can spend
  // twice.
  const newest = new Map(found.meters.map((meter) => [meter.lineage, new Date(meter.windowStart)]))
  const reserved = found.windows.map((window) => ({
    ...window,
    windowStart: new Date(window.windowStart),
    micro: BigInt(window.micro),
  }))
  for (const { lineage, windowStart, micro } of [...spent.values(), ...reserved]) {
    if (isOfBudget(lineage)) continue // check-budgets.ts
    const start = newest.get(lineage)
    if (!start || start < windowStart)
      same('the meter of this window is missing', `meter ${lineage} from ${windowStart.toISOString()}`, micro, 0n)
  }
  for (const meter of found.meters) {
    const where = `meter ${meter.lineage} from ${meter.windowStart}`
    const folded = spent.get(windowName(meter.lineage, new Date(meter.windowStart)))?.micro ?? 0n
    same('reserved differs from the open reservations', where, BigInt(meter.open), BigInt(meter.reserved))
    same('spent differs from the journal', where, folded, BigInt(meter.spent))
  }
  return findings
}
