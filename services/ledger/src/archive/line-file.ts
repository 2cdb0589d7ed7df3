import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { open, readFile, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { z } from 'zod'
import { isMonth, type Month } from './month.ts'

// Compressed files of lines. A file is written under a temporary name that starts with a dot and is renamed once it has
// fully reached the disk, so a file with its final name is complete. Neither writing nor reading keeps more than a few
// lines in memory.

/** A file as described in a manifest. */
export interface FileRecord {
  file: string
  /** Lines. */
  rows: number
  bytes: number
  /** Of the compressed bytes, in hex. */
  sha256: string
}

export interface LineFile {
  /** @param line without a line break */
  write(line: string): Promise<void>
  /** Resolves once the file has its final name, durably. */
  finish(): Promise<FileRecord>
  /** Deletes the temporary file. */
  abandon(): Promise<void>
}

export function openLineFile(folder: string, file: string): LineFile {
  const temporary = path.join(folder, `.${file}.part`)
  const gzip = createGzip()
  const hash = createHash('sha256')
  const record: FileRecord = { file, rows: 0, bytes: 0, sha256: '' }
  const written = pipeline(
    gzip,
    async function* count(chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        hash.update(chunk)
        record.bytes += chunk.length
        yield chunk
      }
    },
    createWriteStream(temporary, { flush: true }),
  )
  written.catch(() => {}) // thrown by `write` and `finish`
  return {
    async write(line) {
      record.rows++
      // A failed pipeline destroys gzip with its error, which `once` throws. A race with `written` would keep a reaction per line.
      if (!gzip.write(`${line}\n`)) await (gzip.destroyed ? written : once(gzip, 'drain'))
    },
    async finish() {
      gzip.end()
      await written
      await rename(temporary, path.join(folder, file))
      await syncFolder(folder)
      return { ...record, sha256: hash.digest('hex') }
    },
    async abandon() {
      gzip.destroy()
      await written.catch(() => {})
      await rm(temporary, { force: true })
    },
  }
}

/** Writes a small file atomically. Returns the SHA-256 of its bytes, in hex. */
export async function writeWhole(folder: string, file: string, text: string): Promise<string> {
  const temporary = path.join(folder, `.${file}.part`)
  const handle = await open(temporary, 'w')
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(temporary, path.join(folder, file))
  await syncFolder(folder)
  return createHash('sha256').update(text).digest('hex')
}

/** @throws if the file can't be decompressed to its end */
export async function* readLines(place: string): AsyncGenerator<string> {
  const source = createReadStream(place)
  const gunzip = createGunzip().setEncoding('utf8')
  source.on('error', (error) => gunzip.destroy(error))
  let rest = ''
  for await (const chunk of source.pipe(gunzip) as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()!
    yield* lines
  }
  if (rest !== '') yield rest
}

/** Returns the size and SHA-256 of a file; null: it does not exist. */
export async function hashFile(place: string): Promise<Pick<FileRecord, 'bytes' | 'sha256'> | null> {
  const hash = createHash('sha256')
  let bytes = 0
  try {
    for await (const chunk of createReadStream(place) as AsyncIterable<Buffer>) {
      hash.update(chunk)
      bytes += chunk.length
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
  return { bytes, sha256: hash.digest('hex') }
}

/** Flushes the folder, so that a renamed file keeps its name after a crash. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

// The manifest names all other files of a month, with their hashes and that of the previous manifest, so the newest
// hash proves all months. It is written last, so a month that has one is complete.

const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const month = z.string().refine(isMonth, 'expected a month such as 2026-08')
const micro = z.string().regex(/^-?\d+$/)
const count = z.int().min(0)
const file = z.strictObject({ file: z.string(), rows: count, bytes: count, sha256 })
const totals = z.strictObject({ funded: micro, reserved: micro, settled: micro })

const manifest = z.strictObject({
  /** Version of the file format. */
  format: z.literal(1),
  month,
  versions: z.strictObject({ migration: z.string(), postgres: z.string() }),
  /** SHA-256 of the previous month's manifest; null: this is the first month. */
  previous: sha256.nullable(),
  /** Entries by wallet and number, each an `Entry` of fold-journal.ts, with the seals of their blocks. */
  journal: file,
  /** Opening and closing balance of each wallet that moved, with its first and last entry and its seals. */
  wallets: file,
  /** Usage records, by id. */
  attempts: z.array(file.extend({ month })),
  /** Sums over the wallets that moved. */
  opening: totals,
  closing: totals,
  /** SHA-256 over a line for each wallet that moved: its id, its last entry, its seal. */
  seal: sha256,
})
export type Manifest = z.infer<typeof manifest>

export const manifestName = (of: Month) => `manifest-${of}.json`
export const journalName = (of: Month) => `journal-${of}.ndjson.gz`
export const walletsName = (of: Month) => `wallets-${of}.ndjson.gz`
export const attemptsName = (of: Month) => `attempts-${of}.ndjson.gz`

export function manifestText(given: Manifest): string {
  return `${JSON.stringify(manifest.parse(given), null, 2)}\n`
}

/** Returns the manifest of a month with the SHA-256 of its file, or a sentence that says what is wrong with it. */
export async function readManifest(
  folder: string,
  of: Month,
): Promise<{ manifest: Manifest; sha256: string } | { wrong: string }> {
  const name = manifestName(of)
  let text: string
  try {
    text = await readFile(path.join(folder, name), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { wrong: `${name} is missing` }
    throw error
  }
  try {
    const found = manifest.parse(JSON.parse(text))
    if (found.month !== of) return { wrong: `${name} is the manifest of ${found.month}` }
    return { manifest: found, sha256: createHash('sha256').update(text).digest('hex') }
  } catch {
    return { wrong: `${name} is not a manifest of format 1` }
  }
}

/** Returns all files that a manifest names. */
export function filesOf({ journal, wallets, attempts }: Manifest): Manifest['journal'][] {
  return [journal, wallets, ...attempts]
}
