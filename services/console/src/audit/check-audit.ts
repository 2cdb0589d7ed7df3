import { createHash } from 'node:crypto'
import type { Database } from '@gateway/database/client'

// The audit is a chain: the seal of each entry is the SHA-256 over the seal before it and the entry's text
// (prisma/functions/control/audit_text.sql). This check computes the text and the seals itself. It finds what was
// changed, removed, inserted or reordered since. Someone who can write the table as its owner could seal a whole chain
// again, but cannot change an anchor that was logged or exported before: `against` compares with one. The retention may
// delete the oldest entries meanwhile, so what is missing is a finding only if the chain does not start behind it.

const ENTRIES_PER_BATCH = 1_000

/** A place in the chain and its seal in hex, as the log and each exported line have them. */
const ANCHOR = /^(\d{1,18}):([0-9a-f]{64})$/

export interface CheckedAudit {
  entries: number
  /** What is wrong, one sentence each. */
  findings: string[]
  /** The newest sealed entry; null: there is none. */
  anchor: string | null
}

interface Row {
  position: bigint
  seal: Uint8Array
  columns: (string | null)[]
}

export function isAnchor(text: string): boolean {
  return ANCHOR.test(text)
}

/** Checks the whole chain, and whether it still has an anchor. */
export async function checkAudit(
  { prisma }: Pick<Database, 'prisma'>,
  against: string | null = null,
): Promise<CheckedAudit> {
  const [, anchored, anchoredSeal] = ANCHOR.exec(against ?? '') ?? []
  const findings: string[] = []
  const start = await prisma.auditStart.findFirst()
  let [position, seal]: [bigint, Uint8Array] = [start?.position ?? 0n, start?.seal ?? new Uint8Array()]
  let entries = 0
  let isAnchored = anchored === undefined
  const compare = () => {
    if (isAnchored || position !== BigInt(anchored!)) return
    isAnchored = true
    if (Buffer.from(seal).toString('hex') !== anchoredSeal)
      findings.push(`Entry ${position} is not as it was anchored.`)
  }
  compare()
  for (let rows: Row[] = []; ;) {
    rows = await readRows({ prisma }, position)
    for (const row of rows) {
      if (row.position > position + 1n) {
        const moved = await prisma.auditStart.findFirst()
        if (moved !== null && moved.position > position) ({ position, seal } = moved)
        if (row.position <= position) continue
      }
      if (row.position !== position + 1n) findings.push(`Entries ${position + 1n} to ${row.position - 1n} are missing.`)
      else if (!sealOf(seal, row).equals(row.seal)) findings.push(`Entry ${row.position} does not fit its seal.`)
      ;({ position, seal } = row)
      entries++
      compare()
    }
    if (rows.length < ENTRIES_PER_BATCH) break
  }
  if (!isAnchored) findings.push(missingAnchor(BigInt(anchored!), start?.position ?? 0n))
  return { entries, findings, anchor: position === 0n ? null : `${position}:${Buffer.from(seal).toString('hex')}` }
}

function sealOf(before: Uint8Array, { columns }: Row): Buffer {
  return createHash('sha256').update(before).update(JSON.stringify(columns)).digest()
}

function missingAnchor(anchored: bigint, start: bigint): string {
  return anchored < start
    ? `Entry ${anchored} is older than the retention keeps: name an anchor of entry ${start} or later.`
    : `Entry ${anchored}, which was anchored, is missing.`
}

/** The columns of audit_text.sql, in its order. */
function readRows({ prisma }: Pick<Database, 'prisma'>, after: bigint): Promise<Row[]> {
  return prisma.$queryRaw<Row[]>`
    SELECT position, seal,
           ARRAY[position::text, id::text, tenant, original::text,
                 to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                 user_id, user_name, action, subject, details::text, outcome, request, address, device] AS columns
      FROM control.audit
     WHERE position > ${after}
     ORDER BY position
     LIMIT ${ENTRIES_PER_BATCH}::int`
}
