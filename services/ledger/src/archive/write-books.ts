import { createHash } from 'node:crypto'
import type { Database } from '@gateway/database/client'
import { checkJournalDays } from '../check/check-journal-days.ts'
import { checkUsage } from '../check/check-usage.ts'
import { type Checkpoint, emptyBook } from '../check/fold-journal.ts'
import { entryOf, type ListedEntry, readListed, STEP } from '../check/read-books.ts'
import {
  beginFold,
  endOf,
  foldMore,
  type Month,
  monthBefore,
  type MonthFold,
  formatInJournal,
  startOf,
  NotArchivable,
} from './month.ts'
import {
  attemptsName,
  type FileRecord,
  journalName,
  type LineFile,
  type Manifest,
  openLineFile,
  walletsName,
} from './line-file.ts'
import { type Closing, walletLine } from './wallet-line.ts'

// Writes the journal of a month and its wallets as files.
//   A1  Entries are folded while they are written, from where the archive before ended. Books that do not add up are
//       not archived: their entries are needed.
//   A2  An entry is a line with everything that the fold needs from other tables, so a file can be checked by itself.
//   A3  Hourly usage and journal days are kept forever, so they are derived from the journal again before its entries
//       are dropped: once per wallet each time the command runs, because they are derived up to now.
//   A4  Memory holds one step of one wallet, however long the month was.

type Prisma = Database['prisma']

const HOUR_MS = 3_600_000

export type BooksFiles = Pick<Manifest, 'journal' | 'wallets' | 'opening' | 'closing' | 'seal'>

interface BooksToWrite {
  folder: string
  month: Month
  /** Every wallet at the end of the month before. */
  closings: ReadonlyMap<string, Closing>
  /** Projects whose hourly usage and days were derived; those of this month are added (A3). */
  proved: Set<string>
}

/** @throws NotArchivable if the books of the month do not add up, or are not rolled up */
export async function writeBooks(
  { prisma }: Pick<Database, 'prisma'>,
  { folder, month, closings, proved }: BooksToWrite,
): Promise<BooksFiles> {
  const journal = openLineFile(folder, journalName(month))
  const wallets = openLineFile(folder, walletsName(month))
  const [opening, closing] = [openTotals(), openTotals()]
  const seal = createHash('sha256')
  try {
    for await (const wallet of walletsOfMonth(prisma, month)) {
      const before = closings.get(wallet.project) ?? { at: emptyBook, windows: new Map() }
      if (wallet.last <= before.at.seq) continue // all of it was archived with the month before
      const fold = beginFold(before)
      await writeWallet(prisma, wallet, { fold, month, journal })
      if (!proved.has(wallet.project)) await proveUsage(prisma, wallet.project)
      proved.add(wallet.project)
      forgetWindows(fold, wallet)
      const { project } = wallet
      await wallets.write(walletLine({ project, opening: before.at, closing: fold }))
      opening.add(before.at)
      closing.add(fold.at)
      seal.update(`${project} ${fold.at.seq} ${fold.at.seal.toString('hex')}\n`)
    }
    const files: { journal: FileRecord; wallets: FileRecord } = {
      journal: await journal.finish(),
      wallets: await wallets.finish(),
    }
    return { ...files, opening: opening.sums(), closing: closing.sums(), seal: seal.digest('hex') }
  } catch (error) {
    await Promise.all([journal.abandon(), wallets.abandon()])
    throw error
  }
}

/** Writes the entries of one wallet. */
async function writeWallet(
  prisma: Prisma,
  { project, last, rolledUp }: MovedWallet,
  { fold, month, journal }: { fold: MonthFold; month: Month; journal: LineFile },
): Promise<void> {
  if (rolledUp < last)
    throw new NotArchivable(
      `${project}: its usage is rolled up to entry ${rolledUp}, and ${month} ends with ${last}. Run a ledger; if one runs, see the log of its job usage-roll-up.`,
    )
  while (fold.at.seq < last) {
    const rows = await readStep(prisma, project, { fold, month, last })
    const findings = foldMore(fold, rows.map(entryOf))
    const isStuck = !rows.some((row) => BigInt(row['seq']!) === fold.at.seq)
    if (isStuck) throw doNotAddUp(`${project}: journal entry ${fold.at.seq}: no sealed block follows it`)
    if (findings[0]) throw doNotAddUp(formatInJournal(project, findings[0]))
    for (const row of rows) if (BigInt(row['seq']!) <= fold.at.seq) await journal.write(entryLine(project, row))
  }
}

async function proveUsage(prisma: Prisma, project: string): Promise<void> {
  const [finding] = [
    ...(await checkUsage({ prisma }, project, 'hours')),
    ...(await checkJournalDays({ prisma }, project, 'days')),
  ]
  if (finding) throw doNotAddUp(formatInJournal(project, finding))
}

function doNotAddUp(finding: string): NotArchivable {
  return new NotArchivable(
    `${finding}. The books do not add up, so their entries must stay in the database (docs/operating.md, "The books do not add up").`,
  )
}

/** Reads the next entries from the partition of the month, or from all if one is missing there. */
async function readStep(
  prisma: Prisma,
  project: string,
  { fold, month, last }: { fold: MonthFold; month: Month; last: bigint },
): Promise<ListedEntry[]> {
  const after = fold.at.seq
  const inMonth = await readListed(prisma, project, {
    after,
    last,
    since: new Date(startOf(month).getTime() - HOUR_MS),
  })
  const isUnbroken = inMonth.every((row, n) => BigInt(row['seq']!) === after + BigInt(n) + 1n)
  const isWhole = inMonth.length === STEP || after + BigInt(inMonth.length) === last
  return isUnbroken && isWhole ? inMonth : readListed(prisma, project, { after, last })
}

function entryLine(project: string, row: ListedEntry): string {
  return JSON.stringify({ project, ...Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) })
}

/** Drops windows before the one of their meter: nothing can be spent in them anymore. */
function forgetWindows({ windows }: MonthFold, { meters }: MovedWallet): void {
  for (const [name, { lineage, windowStart }] of windows) {
    const start = meters.get(lineage)
    if (start && windowStart < start) windows.delete(name)
  }
}

function openTotals() {
  let [funded, reserved, settled] = [0n, 0n, 0n]
  return {
    add: (at: Checkpoint) => {
      funded += at.funded
      reserved += at.reserved
      settled += at.settled
    },
    sums: () => ({ funded: String(funded), reserved: String(reserved), settled: String(settled) }),
  }
}

// Writes usage records as files. A call that crosses into the next month has its record in one month, by its id, and
// entries in the next. So records are archived with the month after theirs at the earliest, and they stay while one of
// them is open, or was closed by an entry that is not archived (an id of a gateway whose clock was wrong).

const BATCH_SIZE = 5_000

export type AttemptsFile = FileRecord & { month: Month }

/** Writes the records of earlier months that are still in the tables and have no entry after this month. */
export async function writeAttempts(
  { prisma }: Pick<Database, 'prisma'>,
  { folder, month, archived }: { folder: string; month: Month; archived: readonly Month[] },
): Promise<{ files: AttemptsFile[]; staying: Month[] }> {
  const files: AttemptsFile[] = []
  const staying: Month[] = []
  for (const each of await monthsInTables(prisma, monthBefore(month))) {
    // Written before and not dropped, because rows were added since.
    const name = archived.includes(each) ? attemptsName(`${each}-again-${month}`) : attemptsName(each)
    const written = (await isOpen(prisma, each))
      ? null
      : await writeMonth(prisma, each, { folder, name, until: endOf(month) })
    if (written) files.push({ month: each, ...written })
    else staying.push(each)
  }
  return { files, staying }
}

async function monthsInTables(prisma: Prisma, upTo: Month): Promise<Month[]> {
  const rows = await prisma.$queryRaw<{ day: string }[]>`
    SELECT right(c.relname, 8) AS day FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent = 'money.attempts'::regclass AND c.relname ~ '^attempts_[0-9]{6}01$' ORDER BY 1`
  return rows.map(({ day }) => `${day.slice(0, 4)}-${day.slice(4, 6)}`).filter((month) => month <= upTo)
}

async function isOpen(prisma: Prisma, month: Month): Promise<boolean> {
  const [row] = await prisma.$queryRaw<[{ open: boolean }]>`
    SELECT EXISTS (SELECT FROM money.reservations
                    WHERE id COLLATE "C" >= money.id_bound('inv', ${startOf(month)})
                      AND id COLLATE "C" < money.id_bound('inv', ${endOf(month)})) AS open`
  return row.open
}

/** Returns null if one of them was closed at `until` or later: then all stay. */
async function writeMonth(
  prisma: Prisma,
  month: Month,
  { folder, name, until }: { folder: string; name: string; until: Date },
): Promise<FileRecord | null> {
  const [bounds] = await prisma.$queryRaw<[{ first: string; end: string }]>`
    SELECT money.id_bound('inv', ${startOf(month)}) AS first, money.id_bound('inv', ${endOf(month)}) AS end`
  const file = openLineFile(folder, name)
  try {
    // Every id is longer than a bound, so all of them are behind it.
    for (let after = bounds.first; ;) {
      const rows = await prisma.$queryRaw<{ id: string; line: string; later: boolean }[]>`
        SELECT id, json_strip_nulls(row_to_json(a))::text AS line, closed_at >= ${until} AS later FROM money.attempts a
         WHERE id > ${after} AND id < ${bounds.end} ORDER BY id LIMIT ${BATCH_SIZE}::int`
      if (rows.some(({ later }) => later)) {
        await file.abandon()
        return null
      }
      for (const { line } of rows) await file.write(line)
      if (rows.length < BATCH_SIZE) return await file.finish()
      after = rows.at(-1)!.id
    }
  } catch (error) {
    await file.abandon()
    throw error
  }
}

// The wallets that moved in a month, and up to which entry. The clock of a database may go back, so the entries of a
// month need not be contiguous in a journal: its archive takes all entries up to the highest number in the month, and
// the rest of a block that is cut there, regardless of their dates. So the archived entries of a month show which
// entries are left.

type Books = Database['prisma']

const WALLETS_PER_READ = 500

interface MovedWallet {
  project: string
  /** Newest entry of the month. */
  last: bigint
  /** Entry up to which its usage is rolled up. */
  rolledUp: bigint
  /** Time since which windows may still be needed, by lineage or budget. */
  meters: Map<string, Date>
}

/** Yields wallets in the order of their ids. */
async function* walletsOfMonth(prisma: Books, month: Month): AsyncGenerator<MovedWallet> {
  for (let project = ''; ;) {
    const rows = await readWallets(prisma, month, project)
    for (const { meters, ...wallet } of rows) {
      const starts = JSON.parse(meters) as [string, string][]
      yield { ...wallet, meters: new Map(starts.map(([lineage, start]) => [lineage, new Date(start)])) }
    }
    if (rows.length < WALLETS_PER_READ) return
    project = rows.at(-1)!.project
  }
}

/** Finds each project of a table in the month by one probe of an index. */
const projectsIn = (table: string) => `
  WITH RECURSIVE each AS (
    (SELECT project FROM money.${table} WHERE project > $3 AND at >= $1 AND at < $2 ORDER BY project LIMIT 1)
    UNION ALL
    SELECT n.project FROM each CROSS JOIN LATERAL (
      SELECT project FROM money.${table} WHERE project > each.project AND at >= $1 AND at < $2 ORDER BY project LIMIT 1) n
  ) SELECT project FROM each LIMIT ${WALLETS_PER_READ}`

function readWallets(prisma: Books, month: Month, after: string) {
  return prisma.$queryRawUnsafe<(Omit<MovedWallet, 'meters'> & { meters: string })[]>(
    `WITH moved AS MATERIALIZED (
       SELECT project FROM ((${projectsIn('journal')}) UNION (${projectsIn('journal_blocks')})) p ORDER BY project LIMIT ${WALLETS_PER_READ})
     SELECT m.project,
            coalesce((SELECT min(last_seq) FROM money.journal_blocks b WHERE b.project = m.project AND b.last_seq >= h.seq),
                     h.seq) AS last,
            coalesce((SELECT u.seq FROM money.usage_positions u WHERE u.project = m.project), 0) AS "rolledUp",
            (SELECT coalesce(json_agg(json_build_array(t.lineage, t.window_start)), '[]')::text
               FROM (SELECT lineage, window_start FROM money.meters WHERE project = m.project
                     UNION ALL
                     SELECT b.id, b.window_start FROM money.budgets b JOIN control.projects p ON p.tenant = b.tenant
                      WHERE p.id = m.project) t) AS meters
       FROM moved m
       CROSS JOIN LATERAL (SELECT greatest(
         (SELECT seq FROM money.journal j
           WHERE j.project = m.project AND j.at >= $1 AND j.at < $2 ORDER BY seq DESC LIMIT 1),
         (SELECT last_seq FROM money.journal_blocks b
           WHERE b.project = m.project AND b.at >= $1 AND b.at < $2 ORDER BY last_seq DESC LIMIT 1)) AS seq) h
      ORDER BY m.project`,
    startOf(month),
    endOf(month),
    after,
  )
}
