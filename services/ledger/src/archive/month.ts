import type { Database, Prisma } from '@gateway/database/client'
import { type Checkpoint, type Entry, type Finding, foldJournal, type SpentByWindow } from '../check/fold-journal.ts'
import type { Closing } from './wallet-line.ts'
import { setTimeout as pause } from 'node:timers/promises'
import { callFunction } from '@gateway/database/call-function'
import { lockedOut } from '../admissions/classify-error.ts'

/** Why a month cannot be archived, as sentences for an operator. */
export class NotArchivable extends Error {
  override readonly name = 'NotArchivable'
}

/** A UTC month, such as `2026-08`. Months are compared as text. */
export type Month = string

export function isMonth(text: string): boolean {
  return /^\d{4}-(0[1-9]|1[0-2])$/.test(text)
}

export function monthOf(moment: Date): Month {
  return moment.toISOString().slice(0, 7)
}

/** First moment of the month. */
export function startOf(month: Month): Date {
  return new Date(`${month}-01T00:00:00Z`)
}

/** First moment of the month after it. */
export function endOf(month: Month): Date {
  const end = startOf(month)
  end.setUTCMonth(end.getUTCMonth() + 1)
  return end
}

export function nextMonth(month: Month): Month {
  return monthOf(endOf(month))
}

export function monthBefore(month: Month): Month {
  return monthOf(new Date(startOf(month).getTime() - 1))
}

// The months to archive, and those whose partitions are still to be dropped.

const DAY_MS = 86_400_000

export interface ArchivedMonth {
  month: Month
  /** SHA-256 of its manifest, hex. */
  manifest: string
  folder: string
  /** The months whose usage records it contains. */
  attempts: Month[]
}

export interface BooksState {
  now: Date
  /** Oldest first. */
  archived: ArchivedMonth[]
  /** Oldest month with rows in the tables; null if they are empty. */
  oldest: Month | null
}

/** Reads what is archived and where the journal begins, by the database's own clock. */
export async function readBooksState({ prisma }: { prisma: Prisma.TransactionClient }): Promise<BooksState> {
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
 * Returns the months to archive, oldest first. Each follows the newest archived one, or is the first of all, and ended
 * more than `afterDays` days ago.
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

/** Returns for how long the oldest month to archive has been due. */
export function overdueDays({ now, archived, oldest }: DueFrom, afterDays: number): number {
  const [month] = monthsToArchive({ now, archived, oldest }, { afterDays, before: null })
  return month === undefined ? 0 : (now.getTime() - endOf(month).getTime()) / DAY_MS - afterDays
}

/** A wallet whose month is being folded. */
export interface MonthFold {
  /** `at.at` is the latest time of all its entries. */
  at: Checkpoint
  windows: SpentByWindow
}

export function beginFold({ at, windows }: Closing): MonthFold {
  return { at, windows: new Map(windows) }
}

/** Folds entries onto a wallet in whole blocks, as the check of the books does. Returns what does not add up. */
export function foldMore(fold: MonthFold, entries: Entry[]): Finding[] {
  const { to, spent, findings } = foldJournal(fold.at, entries)
  for (const [name, window] of spent)
    fold.windows.set(name, { ...window, micro: window.micro + (fold.windows.get(name)?.micro ?? 0n) })
  let latest = fold.at.at
  for (const { seq, at } of entries) if (seq <= to.seq && (latest === null || at > latest)) latest = at
  fold.at = { ...to, at: latest }
  return findings
}

export function formatInJournal(project: string, { where, what, expectedMicro, foundMicro }: Finding): string {
  return `${project}: ${where}: ${what}: expected ${expectedMicro}, found ${foundMicro} micro-USD`
}

// Drops archived rows from the tables in steps that wait at most 100 ms for a lock (money.drop_archived).

/** If all tries fail, a long query reads these tables. The files are safe, and the next archive continues here. */
const TRIES = 120
const PAUSE_MS = 500

type Table = 'journal' | 'journal_blocks' | 'attempts'

/** Returns what was done. @throws NotArchivable if a lock was not available for a minute */
export async function dropMonth(
  { sql }: Pick<Database, 'sql'>,
  { month, attempts }: { month: Month; attempts: readonly Month[] },
): Promise<string[]> {
  const parts: [Table, Month][] = [
    ['journal', month],
    ['journal_blocks', month],
    ...attempts.map((of): [Table, Month] => ['attempts', of]),
  ]
  const done: string[] = []
  for (const [table, of] of parts) {
    for (let step = await dropStep(sql, table, of); step !== null; step = await dropStep(sql, table, of))
      done.push(step)
  }
  return done
}

async function dropStep(sql: Database['sql'], table: Table, month: Month): Promise<string | null> {
  for (let n = 1; n <= TRIES; n++) {
    try {
      const { done } = await callFunction(sql, 'money.drop_archived', { of_table: table, of_month: month })
      return done
    } catch (error) {
      if (!lockedOut(error)) throw error
      await pause(PAUSE_MS)
    }
  }
  throw new NotArchivable(
    `money.${table} is kept locked, so ${month} could not be dropped; it is archived, and the next run drops it. A long transaction reads the table: docs/operating.md, "TransactionTooOld".`,
  )
}
