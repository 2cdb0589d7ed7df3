import { readFile } from 'node:fs/promises'
import { createHash } from 'node:crypto'
import path from 'node:path'
import { z } from 'zod'
import { isMonth, type Month } from './month.ts'

// The file that names all others of a month, with their hashes and that of the manifest before: who knows the newest
// hash can prove all months. It is written last, so a month that has one is whole.

const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const month = z.string().refine(isMonth, 'expected a month such as 2026-08')
const micro = z.string().regex(/^-?\d+$/)
const count = z.int().min(0)
const file = z.strictObject({ file: z.string(), rows: count, bytes: count, sha256 })
const totals = z.strictObject({ funded: micro, reserved: micro, settled: micro })

const manifest = z.strictObject({
  /** Of these files. */
  format: z.literal(1),
  month,
  versions: z.strictObject({ migration: z.string(), postgres: z.string() }),
  /** SHA-256 of the manifest of the month before; null: this is the first one. */
  previous: sha256.nullable(),
  /** Entries by wallet and number, each as `Entry` of fold-journal.ts says, with the seals of their blocks. */
  journal: file,
  /** What each wallet that moved was before and after, with its first and last entry and its seals. */
  wallets: file,
  /** Records of use, by their id. */
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

/** The manifest of a month with the SHA-256 of its file; as a sentence what is wrong with it. */
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
    if (found.month !== of) return { wrong: `${name} is that of ${found.month}` }
    return { manifest: found, sha256: createHash('sha256').update(text).digest('hex') }
  } catch {
    return { wrong: `${name} is no manifest of format 1` }
  }
}

/** All files that a manifest names. */
export function filesOf({ journal, wallets, attempts }: Manifest): Manifest['journal'][] {
  return [journal, wallets, ...attempts]
}
