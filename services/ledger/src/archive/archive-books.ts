import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import type { Database } from '@gateway/database/client'
import { readClosings, recordMonth, verifyFiles, verifyMonth } from './verify-month.ts'
import {
  type ArchivedMonth,
  type BooksState,
  dropMonth,
  endOf,
  type Month,
  monthsToArchive,
  overdueDays,
  readBooksState,
  NotArchivable,
} from './month.ts'
import { type Manifest, manifestName, manifestText, readManifest, writeWhole } from './line-file.ts'
import { writeAttempts, writeBooks } from './write-books.ts'
import type { Meter } from '@opentelemetry/api'
import type { Deps } from '../deps.ts'

// Writes closed months of the books to files, then drops their partitions.
//   R1  Months are archived in order: each starts with the balances of its wallets at the end of the month before.
//   R2  A month is recorded once its files have been re-read and verified; its partitions are dropped once it is
//       recorded.
//   R3  Killed at any moment and run again, the result is the same: files are rewritten until their month is recorded,
//       and a recorded month whose partitions are left is finished first, if its files have not changed.
//   R4  One archive runs at a time: the session holds a lock.

type Prisma = Database['prisma']

export type ArchiveStep = 'books' | 'attempts' | 'manifest' | 'verify' | 'record' | 'drop'

export interface ArchiveOptions {
  folder: string
  /** Minimum number of days since the end of a month. */
  afterDays: number
  /** Only months before this one; null: all that are due. */
  before: Month | null
  /** Log what would be done without doing it. */
  dry?: boolean
  log: (line: string) => void
  /** Called before each step; an error it throws ends the archive there. */
  beforeStep?: (step: ArchiveStep, month: Month) => void | Promise<void>
}

/**
 * Archives the months that are due. Returns the months that were archived or finished.
 * @param database a single connection, as the owner of the tables
 * @throws NotArchivable with instructions for the operator
 */
export async function archiveBooks(
  database: Pick<Database, 'prisma' | 'sql'>,
  options: ArchiveOptions,
): Promise<Month[]> {
  await refuseOthers(database.prisma)
  await takeTurn(database.prisma)
  const state = await readBooksState(database)
  const unfinished = await unfinishedMonths(database.prisma, state)
  const due = monthsToArchive(state, options)
  if (options.dry) {
    for (const { month } of unfinished) options.log(`${month} is archived, and its partitions would be dropped.`)
    for (const month of due) options.log(`${month} would be archived.`)
  } else {
    await mkdir(options.folder, { recursive: true })
    for (const archived of unfinished) await finishMonth(database, archived, options)
    const proved = new Set<string>()
    for (const month of due) await archiveMonth(database, month, proved, options)
  }
  const months = [...new Set([...unfinished.map(({ month }) => month), ...due])]
  if (months.length === 0) options.log('No month is due.')
  return months
}

async function archiveMonth(
  database: Pick<Database, 'prisma' | 'sql'>,
  month: Month,
  proved: Set<string>,
  options: ArchiveOptions,
): Promise<void> {
  const { folder, log, beforeStep = () => {} } = options
  const { archived } = await readBooksState(database)
  const previous = archived.at(-1) ?? null
  if (previous) await intact(folder, previous)
  const closings = await readClosings(database)

  await beforeStep('books', month)
  const books = await writeBooks(database, { folder, month, closings, proved })
  await beforeStep('attempts', month)
  const alreadyIn = archived.flatMap(({ attempts }) => attempts)
  const { files: attempts, staying } = await writeAttempts(database, { folder, month, archived: alreadyIn })
  await beforeStep('manifest', month)
  const versions = await readVersions(database.prisma)
  const manifest: Manifest = {
    format: 1,
    month,
    versions,
    previous: previous?.manifest ?? null,
    ...books,
    attempts,
  }
  const sha256 = await writeWhole(folder, manifestName(month), manifestText(manifest))

  await beforeStep('verify', month)
  const { findings, moved } = await verifyMonth({ folder, manifest, closings })
  if (findings.length > 0 || !moved)
    throw new NotArchivable(
      `${month} is not archived, because its files differ from what was written:\n${findings.join('\n')}`,
    )
  await beforeStep('record', month)
  await takeTurn(database.prisma) // the database may have reconnected
  await recordMonth(database, { month, folder: path.resolve(folder), manifest, sha256, moved, closings })
  await beforeStep('drop', month)
  await dropMonth(database, { month, attempts: attempts.map((file) => file.month) })
  log(formatMonth(manifest))
  for (const each of staying)
    log(`${each}: usage records stay, because calls of that month are open or were closed after ${month}.`)
}

async function finishMonth(
  database: Pick<Database, 'prisma' | 'sql'>,
  archived: ArchivedMonth,
  { folder, log, beforeStep = () => {} }: ArchiveOptions,
): Promise<void> {
  const { month } = archived
  const manifest = await intact(folder, archived)
  const wrong = await verifyFiles(folder, manifest)
  if (wrong.size > 0)
    throw new NotArchivable(
      `${month} is archived, but its partitions stay, because in ${folder} ${[...wrong.values()].join(' and ')}.`,
    )
  await beforeStep('drop', month)
  await dropMonth(database, archived)
  log(formatMonth(manifest))
}

/** Returns the manifest of a recorded month. Throws if it is not the recorded one. */
async function intact(folder: string, { month, manifest, folder: place }: ArchivedMonth): Promise<Manifest> {
  const found = await readManifest(folder, month)
  const wrong =
    'wrong' in found
      ? found.wrong
      : found.sha256 === manifest
        ? null
        : `${manifestName(month)} differs from the recorded manifest`
  if (wrong !== null || 'wrong' in found)
    throw new NotArchivable(
      `${wrong} in ${folder}. ${month} was archived to ${place}. Put its files there, or name their folder.`,
    )
  return found.manifest
}

/** Returns recorded months that still have a partition. */
async function unfinishedMonths(prisma: Prisma, { archived }: BooksState): Promise<ArchivedMonth[]> {
  const last = archived.at(-1)
  if (!last) return []
  const end = endOf(last.month)
  const rows = await prisma.$queryRaw<{ name: string }[]>`
    SELECT relname AS name FROM pg_class WHERE relnamespace = 'money'::regnamespace AND relkind = 'r'
       AND relname ~ '^(attempts|journal|journal_blocks)_[0-9]{6}01$'`
  const left = new Set(rows.map(({ name }) => name))
  const [stray] = await prisma.$queryRaw<[{ left: boolean }]>`
    SELECT EXISTS (SELECT FROM money.journal_unplanned d JOIN money.archived_wallets w USING (project)
                    WHERE d.seq <= w.seq AND d.at < ${end}) OR
           EXISTS (SELECT FROM money.journal_blocks_unplanned d JOIN money.archived_wallets w USING (project)
                    WHERE d.last_seq <= w.seq AND d.at < ${end}) AS left`
  const isLeft = (table: string, month: Month) => left.has(`${table}_${month.replace('-', '')}01`)
  // Usage records that are in a newer archive too were kept on purpose, and are dropped with that one.
  const newest = new Map(archived.flatMap(({ month, attempts }) => attempts.map((of) => [of, month])))
  return archived.filter(
    ({ month, attempts }) =>
      (month === last.month && stray.left) ||
      isLeft('journal', month) ||
      isLeft('journal_blocks', month) ||
      attempts.some((of) => newest.get(of) === month && isLeft('attempts', of)),
  )
}

/** Only the owner of the tables may drop partitions. */
async function refuseOthers(prisma: Prisma): Promise<void> {
  const [row] = await prisma.$queryRaw<[{ login: string; owner: string; owns: boolean }]>`
    SELECT current_user::text AS login, pg_get_userbyid(relowner)::text AS owner,
           pg_has_role(current_user, relowner, 'USAGE') AS owns
      FROM pg_class WHERE oid = 'money.journal'::regclass`
  if (!row.owns)
    throw new NotArchivable(
      `DATABASE_URL uses the login ${row.login}, which can't drop tables. Use the login of the owner, ${row.owner}, as the migration job does.`,
    )
}

/** R4. The lock is held until the session ends. */
async function takeTurn(prisma: Prisma): Promise<void> {
  const [row] = await prisma.$queryRaw<
    [{ mine: boolean }]
  >`SELECT pg_try_advisory_lock(hashtext('money.archive')) AS mine`
  if (!row.mine) throw new NotArchivable('Another archive run is in progress on this database. Wait for it to end.')
}

async function readVersions(prisma: Prisma): Promise<Manifest['versions']> {
  const [row] = await prisma.$queryRaw<[{ migration: string; postgres: string }]>`
    SELECT (SELECT max(migration_name) FROM public._prisma_migrations WHERE finished_at IS NOT NULL) AS migration,
           current_setting('server_version') AS postgres`
  return row
}

function formatMonth({ month, journal, wallets, attempts }: Manifest): string {
  const files = [journal, wallets, ...attempts]
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  const records = attempts.map((file) => `${file.rows} usage records of ${file.month}`)
  return `${month} is archived: ${[`${journal.rows} entries of ${wallets.rows} wallets`, ...records].join(', ')}; ${bytes} bytes.`
}

/**
 * Observes for how long archiving is overdue.
 * @param afterDays minimum number of days since the end of a month; undefined: no archiving, so no value is reported
 */
export function observeArchive(meter: Meter, { reads }: Pick<Deps, 'reads'>, afterDays: number | undefined): void {
  meter
    .createObservableGauge('ledger.archive.overdue', {
      description: 'Days by which the oldest month due for archiving is overdue; no value if nothing is archived',
      unit: 'd',
    })
    .addCallback(async (result) => {
      if (afterDays !== undefined) result.observe(overdueDays(await readBooksState(reads), afterDays))
    })
}
