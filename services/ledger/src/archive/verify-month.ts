import { createHash } from 'node:crypto'
import path from 'node:path'
import { emptyBook, type Entry } from '../check/fold-journal.ts'
import { entryOf, type ListedEntry, STEP } from '../check/read-books.ts'
import type { ArchivedSeals } from '../check/anchor.ts'
import { beginFold, foldMore, type Month, formatInJournal, startOf, NotArchivable } from './month.ts'
import { filesOf, hashFile, type Manifest, readLines } from './line-file.ts'
import { type Closing, isSame, readWalletLine, type WalletMonth, windowsText } from './wallet-line.ts'
import type { Database, Prisma } from '@gateway/database/client'
import { windowsOf } from '../check/checkpoint.ts'

// Re-reads one month of an archive from its files.
//   V1  Every file exists and has the bytes that the manifest states.
//   V2  The journal of each wallet, folded from the end of the month before, gives what the wallets file states,
//       balance by balance and window by window, and every charge is what its usage costs.
//   V3  No file has a line without an owner, and none has fewer lines than the manifest states.
//   V4  Memory holds one block of entries, and the last balances and windows of each wallet that was ever archived.

interface MonthToVerify {
  folder: string
  manifest: Manifest
  /** Every wallet at the end of the month before; updated to the end of this one. */
  closings: Map<string, Closing>
  /** An earlier month could not be read: a wallet that is not in `closings` may have had any balance. */
  isTorn?: boolean
  /** Entries whose seals are to be recorded. */
  wanted?: ArchivedSeals
}

/** Checks whether the files of a month are those of its manifest (V1). Returns the findings as sentences, by file. */
export async function verifyFiles(folder: string, manifest: Manifest): Promise<Map<string, string>> {
  const wrong = new Map<string, string>()
  for (const { file, bytes, sha256 } of filesOf(manifest)) {
    const found = await hashFile(path.join(folder, file))
    if (!found) wrong.set(file, `${file} is missing`)
    else if (found.bytes !== bytes) wrong.set(file, `${file} has ${found.bytes} bytes instead of ${bytes}`)
    else if (found.sha256 !== sha256) wrong.set(file, `${file} was changed: its SHA-256 is ${found.sha256}`)
  }
  return wrong
}

interface VerifiedMonth {
  /** Findings, as sentences. */
  findings: string[]
  /** Wallets that moved in the month; null if its books could not be read. */
  moved: string[] | null
}

/** Re-reads a month, as far as its files are those of the manifest. */
export async function verifyMonth(month: MonthToVerify): Promise<VerifiedMonth> {
  const { folder, manifest } = month
  const wrong = await verifyFiles(folder, manifest)
  const findings = [...wrong.values()]
  const moved: string[] = []
  let areBooksRead = !wrong.has(manifest.journal.file) && !wrong.has(manifest.wallets.file)
  try {
    if (areBooksRead) await verifyBooks(month, findings, moved)
    for (const { file, rows } of manifest.attempts)
      if (!wrong.has(file)) await verifyAttempts(path.join(folder, file), rows, findings)
  } catch (error) {
    areBooksRead = false
    findings.push(
      `the files of ${manifest.month} can't be read: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
  return { findings, moved: areBooksRead ? moved : null }
}

/** V2 */
async function verifyBooks(month: MonthToVerify, findings: string[], moved: string[]): Promise<void> {
  const { folder, manifest, closings } = month
  const journal = openEntries(path.join(folder, manifest.journal.file))
  const seal = createHash('sha256')
  for await (const line of readLines(path.join(folder, manifest.wallets.file))) {
    const wallet = readWalletLine(line)
    const { project, closing } = wallet
    findings.push(...(await verifyWallet(wallet, journal, month)))
    closings.set(project, closing)
    moved.push(project)
    seal.update(`${project} ${closing.at.seq} ${closing.at.seal.toString('hex')}\n`)
  }
  const rest = await journal.countRest()
  if (rest > 0) findings.push(`${manifest.journal.file} has ${rest} entries of wallets not in ${manifest.wallets.file}`) // V3
  if (journal.rows() !== manifest.journal.rows)
    findings.push(`${manifest.journal.file} has ${journal.rows()} lines instead of ${manifest.journal.rows}`)
  if (moved.length !== manifest.wallets.rows)
    findings.push(`${manifest.wallets.file} has ${moved.length} lines instead of ${manifest.wallets.rows}`)
  if (seal.digest('hex') !== manifest.seal) findings.push(`the seal of ${manifest.month} does not match its wallets`)
}

async function verifyWallet(
  { project, opening, closing }: WalletMonth,
  journal: Entries,
  { closings, isTorn = false, wanted }: MonthToVerify,
): Promise<string[]> {
  const findings: string[] = []
  const known = closings.get(project) ?? (isTorn ? null : { at: emptyBook, windows: new Map() })
  const before = known ?? { at: opening, windows: new Map() }
  const seals = wanted?.get(project)
  if (!isSame(opening, before.at))
    findings.push(
      `${project}: its opening balance, of entry ${opening.seq}, differs from the previous closing balance, of entry ${before.at.seq}`,
    )
  const fold = beginFold(before)
  for await (const block of journal.blocksOf(project)) {
    findings.push(...foldMore(fold, block).map((finding) => formatInJournal(project, finding)))
    const { seq, seal } = block.at(-1)!
    if (seals?.has(seq)) seals.set(seq, seal)
  }
  if (!isSame(fold.at, closing.at))
    findings.push(
      `${project}: its entries end with ${fold.at.seq} and ${fold.at.settled} micro-USD settled, its closing balance with ${closing.at.seq} and ${closing.at.settled}`,
    )
  const kept = new Map([...fold.windows].filter(([name]) => closing.windows.has(name)))
  if (known && windowsText(kept) !== windowsText(closing.windows))
    findings.push(`${project}: the spending of its windows differs from its entries`)
  return findings
}

type Entries = ReturnType<typeof openEntries>

/** Reads the entries of a file, wallet by wallet. */
function openEntries(place: string) {
  const lines = readLines(place)
  let rows = 0
  let next: ListedEntry | null = null
  async function take(): Promise<ListedEntry | null> {
    const { value, done } = await lines.next()
    if (done) return null
    rows++
    return JSON.parse(value) as ListedEntry
  }
  return {
    rows: () => rows,
    /** Yields blocks that end with a seal, and last the entries after the last seal. */
    async *blocksOf(project: string): AsyncGenerator<Entry[]> {
      let block: Entry[] = []
      for (next ??= await take(); next?.['project'] === project; next = await take()) {
        const entry = entryOf(next)
        block.push(entry)
        if (!entry.seal && block.length < STEP) continue
        yield block
        block = []
      }
      if (block.length > 0) yield block
    },
    /** Returns the number of entries that were not read by `blocksOf`. */
    async countRest(): Promise<number> {
      const taken = next === null ? rows : rows - 1
      while ((await take()) !== null) continue
      next = null
      return rows - taken
    },
  }
}

async function verifyAttempts(place: string, rows: number, findings: string[]): Promise<void> {
  let [found, last] = [0, '']
  for await (const line of readLines(place)) {
    const { id } = JSON.parse(line) as { id: string }
    if (id <= last) findings.push(`${path.basename(place)}: ${id} is not after ${last}`)
    last = id
    found++
  }
  if (found !== rows) findings.push(`${path.basename(place)} has ${found} lines instead of ${rows}`)
}

// The newest archived entry of each wallet, as recorded in the database.

const BATCH_SIZE = 1_000
const RECORD_MS = 300_000

/** Reads every wallet with archived entries: one row per wallet, however many entries it has. */
export async function readClosings({ prisma }: { prisma: Prisma.TransactionClient }): Promise<Map<string, Closing>> {
  const closings = new Map<string, Closing>()
  for (let project = ''; ;) {
    const rows = await prisma.archivedWallet.findMany({
      where: { project: { gt: project } },
      orderBy: { project: 'asc' },
      take: BATCH_SIZE,
    })
    for (const { project: of, windows, seq, at, funded, reserved, settled, seal } of rows)
      closings.set(of, {
        at: { seq, at, funded, reserved, settled, seal: Buffer.from(seal) },
        windows: windowsOf(windows),
      })
    if (rows.length < BATCH_SIZE) return closings
    project = rows.at(-1)!.project
  }
}

interface ClosedMonth {
  month: Month
  folder: string
  manifest: Manifest
  /** SHA-256 of the manifest, hex. */
  sha256: string
  moved: readonly string[]
  closings: ReadonlyMap<string, Closing>
}

/** Records in one transaction that a month is archived: from then on the check of the books starts behind it. */
export async function recordMonth({ prisma }: Pick<Database, 'prisma'>, verified: ClosedMonth): Promise<void> {
  const { month, folder, manifest, sha256, moved, closings } = verified
  await prisma.$transaction(
    async (tx) => {
      const attempts = manifest.attempts.map((file) => startOf(file.month))
      const written = await tx.$executeRaw`
        INSERT INTO money.archives (month, manifest, folder, entries, attempts, at)
        VALUES (${startOf(month)}::date, ${Buffer.from(sha256, 'hex')}, ${folder}, ${BigInt(manifest.journal.rows)},
                ${attempts}::date[], now())
        ON CONFLICT DO NOTHING`
      if (written === 0) throw new NotArchivable(`${month} was archived by another process in the meantime.`)
      for (let at = 0; at < moved.length; at += BATCH_SIZE)
        await record(tx, month, moved.slice(at, at + BATCH_SIZE), closings)
    },
    { timeout: RECORD_MS },
  )
}

async function record(
  tx: Pick<Prisma.TransactionClient, '$executeRaw'>,
  month: Month,
  projects: readonly string[],
  closings: ReadonlyMap<string, Closing>,
): Promise<void> {
  const rows = projects.map((project) => closings.get(project)!)
  await tx.$executeRaw`
    INSERT INTO money.archived_wallets AS w (project, month, seq, at, funded, reserved, settled, seal, windows)
    SELECT r.project, ${startOf(month)}::date, r.seq, r.at, r.funded, r.reserved, r.settled, decode(r.seal, 'hex'), r.windows
      FROM unnest(${[...projects]}::text[], ${rows.map(({ at }) => at.seq)}::bigint[], ${rows.map(({ at }) => at.at!)}::timestamptz[],
                  ${rows.map(({ at }) => at.funded)}::bigint[], ${rows.map(({ at }) => at.reserved)}::bigint[],
                  ${rows.map(({ at }) => at.settled)}::bigint[], ${rows.map(({ at }) => at.seal.toString('hex'))}::text[],
                  ${rows.map(({ windows }) => windowsText(windows))}::text[])
           r (project, seq, at, funded, reserved, settled, seal, windows)
    ON CONFLICT (project) DO UPDATE SET
      month = excluded.month, seq = excluded.seq, at = excluded.at, funded = excluded.funded,
      reserved = excluded.reserved, settled = excluded.settled, seal = excluded.seal, windows = excluded.windows`
}
