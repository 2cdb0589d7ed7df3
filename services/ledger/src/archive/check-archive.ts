import { readdir } from 'node:fs/promises'
import type { Database } from '@gateway/database/client'
import type { ArchivedSeals } from '../check/anchor.ts'
import { readClosings, verifyMonth } from './verify-month.ts'
import { type Manifest, manifestName, readManifest } from './line-file.ts'
import { isMonth, type Month, monthBefore, nextMonth, readBooksState } from './month.ts'
import { isSame, windowsText, type Closing } from './wallet-line.ts'

// Checks a folder of archived months, starting at the first: each must follow the one before, by the hash of its
// manifest and by the balance of every wallet. With a database it also checks that the database has recorded exactly
// these months and that its books continue where they end. The month after the last recorded one is left out: a run
// writes its files again until it is recorded.

export interface ArchiveReport {
  months: number
  entries: number
  findings: string[]
  /** What is not wrong, but worth knowing. */
  notes: string[]
}

interface Options {
  /** The books that continue after the archive; null: only the files are checked. */
  database: Pick<Database, 'prisma'> | null
  /** Entries whose seals are to be noted. */
  wanted?: ArchivedSeals
}

/** Maximum duration of the transaction that reads the books. */
const READ_MS = 600_000

export async function checkArchive(folder: string, { database, wanted }: Options): Promise<ArchiveReport> {
  const report: ArchiveReport = { months: 0, entries: 0, findings: [], notes: [] }
  const closings = new Map<string, Closing>()
  const hashes = new Map<Month, string>()
  const books = database && (await readArchivedBooks(database))
  const months = await monthsIn(folder)
  if (months.length === 0) report.findings.push(`${folder} has no manifests`)
  if (months.length > 0 && months.at(-1) === books?.next) {
    const name = manifestName(months.pop()!)
    report.notes.push(`${name} is not recorded in the database yet: a run is in progress, or the next one finishes it`)
  }
  let before: Month | null = null
  let isTorn = false
  for (const month of months) {
    const found = await readManifest(folder, month)
    const chain = 'wrong' in found ? [found.wrong] : followsOn({ month, before, hashes }, found.manifest)
    report.findings.push(...chain)
    let isRead = false
    if (!('wrong' in found)) {
      const { manifest, sha256 } = found
      if (chain.length > 0 && !hashes.has(monthBefore(month))) isTorn = startOver(closings)
      const verified = await verifyMonth({ folder, manifest, closings, isTorn, ...(wanted && { wanted }) })
      report.findings.push(...verified.findings)
      report.entries += manifest.journal.rows
      report.months++
      hashes.set(month, sha256)
      isRead = verified.moved !== null
    }
    if (!isRead) isTorn = startOver(closings)
    before = month
  }
  if (books) report.findings.push(...compareWithBooks(books, hashes, isTorn ? null : closings))
  return report
}

/** If months are missing or unreadable, the following months are checked from their own opening balances. */
function startOver(closings: Map<string, Closing>): true {
  closings.clear()
  return true
}

/** Returns what is wrong with the position of a month in the chain. */
function followsOn(
  { month, before, hashes }: { month: Month; before: Month | null; hashes: ReadonlyMap<Month, string> },
  { previous }: Manifest,
): string[] {
  if (before === null) return previous === null ? [] : [`the months before ${month} are missing`]
  if (nextMonth(before) !== month) return [`${manifestName(nextMonth(before))} is missing`]
  const hash = hashes.get(before) // undefined: that month could not be read
  return hash === undefined || hash === previous
    ? []
    : [`${manifestName(month)} does not follow ${manifestName(before)}`]
}

async function monthsIn(folder: string): Promise<Month[]> {
  const names = await readdir(folder).catch(() => [])
  const months = names.map((name) => /^manifest-(.*)\.json$/.exec(name)?.[1] ?? '')
  return months.filter(isMonth).toSorted()
}

interface ArchivedBooks {
  /** Hash of the manifest of each recorded month. */
  recorded: ReadonlyMap<Month, string>
  /** The month that a run would archive next; null if there are no entries. */
  next: Month | null
  closings: ReadonlyMap<string, Closing>
}

/** Reads one snapshot, since a run may record a month meanwhile. */
function readArchivedBooks({ prisma }: Pick<Database, 'prisma'>): Promise<ArchivedBooks> {
  return prisma.$transaction(
    async (tx) => {
      const { archived, oldest } = await readBooksState({ prisma: tx })
      const last = archived.at(-1)
      return {
        recorded: new Map(archived.map(({ month, manifest }) => [month, manifest])),
        next: last ? nextMonth(last.month) : oldest,
        closings: await readClosings({ prisma: tx }),
      }
    },
    { isolationLevel: 'RepeatableRead', timeout: READ_MS },
  )
}

function compareWithBooks(
  { recorded, closings: inBooks }: ArchivedBooks,
  hashes: ReadonlyMap<Month, string>,
  /** null: not all months could be read. */
  closings: ReadonlyMap<string, Closing> | null,
): string[] {
  const findings: string[] = []
  for (const [month, sha256] of recorded) {
    if (!hashes.has(month)) findings.push(`${manifestName(month)} is recorded in the database but missing`)
    else if (hashes.get(month) !== sha256)
      findings.push(`${manifestName(month)} differs from the manifest recorded in the database`)
  }
  for (const month of hashes.keys())
    if (!recorded.has(month)) findings.push(`${manifestName(month)} is not recorded in the database`)
  if (findings.length > 0 || closings === null) return findings
  for (const [project, { at, windows }] of inBooks) {
    const inFiles = closings.get(project)
    if (!inFiles || !isSame(inFiles.at, at) || windowsText(inFiles.windows) !== windowsText(windows))
      findings.push(
        `${project}: its last archived entry is ${at.seq} in the database and ${inFiles?.at.seq ?? 'none'} in the files, or its balance at that entry differs`,
      )
  }
  for (const project of closings.keys())
    if (!inBooks.has(project)) findings.push(`${project}: it is in the files but not in the database`)
  return findings
}
