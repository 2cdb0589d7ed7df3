import { createHash } from 'node:crypto'
import { callFunction } from '@gateway/database/call-function'
import type { Database } from '@gateway/database/client'
import type { Finding } from './fold-journal.ts'

// An anchor is one hash over the newest journal entry and seal of every wallet (money §9.3). An attacker who can write
// all tables could reseal a journal, but cannot change an anchor already written to the log. The whole check verifies
// that the seals match the entries; this file verifies that the journals still have the anchored seals.

/** The form in the log and on the command line: a number and a SHA-256 in hex. */
const ANCHOR = /^(\d{1,18}):([0-9a-f]{64})$/

const HEADS_PER_BATCH = 2_000

export interface Anchor {
  text: string
  wallets: number
}

/** Takes an anchor. Returns null if nothing has moved since the last one or another replica is taking one. */
export async function takeAnchor({ sql }: Pick<Database, 'sql'>): Promise<Anchor | null> {
  const { anchor, wallets, root } = await callFunction(sql, 'money.take_anchor', {})
  return anchor === null ? null : { text: `${anchor}:${root}`, wallets: wallets! }
}

export function isAnchor(text: string): boolean {
  return ANCHOR.test(text)
}

/**
 * Checks that the books still have the anchored seals. Returns a finding for each wallet that differs, and one for the
 * anchor if the hash differs.
 * @param archived the seals of anchored entries, read from the files of an archive
 */
export async function checkAnchor(
  { prisma }: Pick<Database, 'prisma'>,
  text: string,
  archived: ArchivedSeals | null = null,
): Promise<(Finding & { project: string })[]> {
  const [, number = '', root = ''] = ANCHOR.exec(text) ?? []
  const findings: (Finding & { project: string })[] = []
  const hash = createHash('sha256')
  let unseen = 0
  let line = ''
  for await (const head of headsOf({ prisma }, text)) {
    if (head.seal === null && head.is_archived) head.seal = archived?.get(head.project)?.get(head.seq) ?? null
    if (head.seal === null && head.is_archived && archived === null) {
      head.seal = head.anchored
      unseen++
    }
    const seal = hex(head.seal)
    hash.update(`${line}${head.project} ${head.seq} ${seal}`)
    line = '\n'
    if (seal !== hex(head.anchored)) findings.push(changedHead(head))
  }
  const ofAll = { ...nothingAmiss, project: 'all wallets', where: `anchor ${number}` }
  if (hash.digest('hex') !== root) findings.push({ ...ofAll, what: OTHER })
  if (unseen > 0) findings.push({ ...ofAll, what: `${unseen} of its entries are archived: ${NEEDS_FILES}` })
  return findings
}

/** Seals by project and entry. */
export type ArchivedSeals = Map<string, Map<bigint, Uint8Array | null>>

/** Returns the anchored entries that are only in an archive. The caller fills in the seals found there. */
export async function archivedHeads({ prisma }: Pick<Database, 'prisma'>, text: string): Promise<ArchivedSeals> {
  const seals: ArchivedSeals = new Map()
  for await (const { project, seq, seal, is_archived } of headsOf({ prisma }, text))
    if (seal === null && is_archived) seals.set(project, new Map([[seq, null]]))
  return seals
}

async function* headsOf({ prisma }: Pick<Database, 'prisma'>, text: string): AsyncGenerator<Head> {
  const [, number = ''] = ANCHOR.exec(text) ?? []
  for (let project = ''; ;) {
    const heads = await readHeads({ prisma }, BigInt(number), project)
    yield* heads
    if (heads.length < HEADS_PER_BATCH) return
    project = heads.at(-1)!.project
  }
}

const OTHER = 'the books differ from the anchor'
const NEEDS_FILES = 'name the archive folder with --archive'
const nothingAmiss = { expectedMicro: 0n, foundMicro: 0n }

interface Head {
  project: string
  seq: bigint
  /** The seal recorded with the anchor. */
  anchored: Uint8Array
  /** The seal in the journal or of the newest archived entry; null: neither has it. */
  seal: Uint8Array | null
  is_archived: boolean
}

/** Returns the anchored entry of each wallet after `project`, in order of ids, with its current seal. */
function readHeads({ prisma }: Pick<Database, 'prisma'>, anchor: bigint, project: string): Promise<Head[]> {
  return prisma.$queryRaw<Head[]>`
    SELECT h.project, h.seq, h.seal AS anchored, coalesce(b.seal, CASE a.seq WHEN h.seq THEN a.seal END) AS seal,
           coalesce(a.seq >= h.seq, false) AS is_archived
      FROM (SELECT DISTINCT ON (project) project, seq, seal FROM money.anchored_heads
             WHERE anchor <= ${anchor} AND project > ${project} ORDER BY project, anchor DESC LIMIT ${HEADS_PER_BATCH}::int) h
      LEFT JOIN LATERAL (
        SELECT b.seal FROM money.journal_blocks b WHERE b.project = h.project AND b.last_seq = h.seq LIMIT 1) b ON true
      LEFT JOIN money.archived_wallets a ON a.project = h.project
     ORDER BY h.project`
}

function changedHead({ project, seq, seal }: Head): Finding & { project: string } {
  const what = seal === null ? 'an anchored entry is missing' : 'the seal of an anchored entry has changed'
  return { ...nothingAmiss, project, what, where: `journal entry ${seq}` }
}

function hex(bytes: Uint8Array | null): string {
  return bytes === null ? '' : Buffer.from(bytes).toString('hex')
}
