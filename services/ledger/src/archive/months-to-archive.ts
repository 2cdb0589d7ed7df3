import type { Database } from '@gateway/database/client'
import { endOf, monthOf, nextMonth, type Month } from './month.ts'

// Which months are to be archived, and of which the partitions are still to go.

const DAY_MS = 86_400_000

export interface ArchivedMonth {
  month: Month
  /** SHA-256 of its manifest, hex. */
  manifest: string
  folder: string
  /** The months whose records of use are in it. */
  attempts: Month[]
}

export interface BooksState {
  now: Date
  /** Oldest first. */
  archived: ArchivedMonth[]
  /** The oldest month of which the tables have anything; null: they are empty. */
  oldest: Month | null
}

/** What is archived, and where the journal begins, by the database's own clock. */
export async function readBooksState({ prisma }: Pick<Database, 'prisma'>): Promise<BooksState> {
  const rows = await prisma.archive.findMany({ orderBy: { month: 'asc' } })
  const [row] = await prisma.$queryRaw<[{ now: Date; planned: string | null; stray: Date | null }]>`
    SELECT now() AS now,
           (SELECT min(right(c.relname, 8)) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
             WHERE i.inhparent = 'money.journal'::regclass AND c.relname ~ '^journal_[0-9]{6}01$') AS planned,
           (SELECT min(at) FROM money.journal_unplanned) AS stray`
  const months = [
    row.planned && `${row.planned.slice(0, 4)}-${row.planned.slice(4, 6)}`,
    row.stray && monthOf(row.stray),
  ]
  return {
    now: row.now,
    archived: rows.map(({ month, manifest, folder, attempts }) => ({
      month: monthOf(month),
      manifest: Buffer.from(manifest).toString('hex'),
      folder,
      attempts: attempts.map(monthOf),
    })),
    oldest: months.filter((month) => month !== null).toSorted()[0] ?? null,
  }
}

type DueFrom = Pick<BooksState, 'now' | 'oldest'> & { archived: readonly Pick<ArchivedMonth, 'month'>[] }

/**
 * The months to archive, oldest first: each follows the newest archived one, or is the first of all, and has been over for
 * more than so many days.
 */
export function monthsToArchive(
  { now, archived, oldest }: DueFrom,
  { afterDays, before }: { afterDays: number; before: Month | null },
): Month[] {
  const newest = archived.at(-1)?.month
  const months: Month[] = []
  const isDue = (month: Month) => endOf(month).getTime() + afterDays * DAY_MS < now.getTime()
  for (let month = newest ? nextMonth(newest) : oldest; month && isDue(month); month = nextMonth(month)) {
    if (before && month >= before) break
    months.push(month)
  }
  return months
}

/** For how long the oldest month that is to be archived has been due. */
export function overdueDays({ now, archived, oldest }: DueFrom, afterDays: number): number {
  const [month] = monthsToArchive({ now, archived, oldest }, { afterDays, before: null })
  return month === undefined ? 0 : (now.getTime() - endOf(month).getTime()) / DAY_MS - afterDays
}
