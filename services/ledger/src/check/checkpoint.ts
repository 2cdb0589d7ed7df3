import type { Database } from '@gateway/database/client'
import {
  emptyBook,
  windowName,
  type Checkpoint,
  type Finding,
  type FoundIn,
  type SpentByWindow,
} from './fold-journal.ts'

// A checkpoint records how far a wallet's journal has been folded, the amounts spent per window by then, and the
// findings. If months are archived, the first remaining entry follows the newest archived one (money §9.4).

type Prisma = Database['prisma']

export interface Start {
  at: Checkpoint
  /** The checkpoint that the next save extends; null: it replaces any saved checkpoint. */
  from: bigint | null
  /** Amounts spent up to there, by the windows that a meter may still have. */
  known: SpentByWindow
  /** Findings in folded entries, until they are repaired. */
  remembered: FoundIn[]
  /** The newest archived entry; 0: none. */
  archived: bigint
}

/** Findings beyond this number are reported once and not checked again. */
const MAX_REMEMBERED = 100

/**
 * Reads where the check of a wallet starts: at its checkpoint, or if `whole` at the first entry that is not archived.
 */
export async function readStart(prisma: Prisma, project: string, whole: boolean): Promise<Start> {
  const rows = await prisma.$queryRawUnsafe<(Checkpoint & { archived: boolean; windows: string; findings: string })[]>(
    `SELECT false AS archived, c.seq, c.at, c.funded, c.reserved, c.settled, c.seal, c.findings,
            (SELECT coalesce(json_agg(json_build_array(lineage, window_start, spent::text)), '[]')::text
               FROM money.checked_meters m WHERE m.project = c.project) AS windows
       FROM money.checked_wallets c WHERE c.project = $1
      UNION ALL
     SELECT true, a.seq, a.at, a.funded, a.reserved, a.settled, a.seal, '[]', a.windows
       FROM money.archived_wallets a WHERE a.project = $1`,
    project,
  )
  const saved = rows.find(({ archived }) => !archived)
  const archive = rows.find(({ archived }) => archived)
  const archived = archive?.seq ?? 0n
  const remembered = saved ? (JSON.parse(saved.findings) as SavedFinding[]).flatMap(foundIn) : []
  // Only correct entries are archived, so the entry was repaired, and the sums after it have to be derived again.
  const isMended = remembered.some(({ last }) => last <= archived)
  if (!whole && saved && saved.seq >= archived && !isMended)
    return { at: checkpointOf(saved), from: saved.seq, known: windowsOf(saved.windows), remembered, archived }
  const at = archive ? checkpointOf(archive) : emptyBook
  return { at, from: null, known: windowsOf(archive?.windows ?? '[]'), remembered: [], archived }
}

function checkpointOf({ seq, at, funded, reserved, settled, seal }: Checkpoint): Checkpoint {
  return { seq, at, funded, reserved, settled, seal: Buffer.from(seal) }
}

/** Parses stored windows: a JSON list of lineage, start and micro-USD. */
export function windowsOf(text: string): SpentByWindow {
  const windows: SpentByWindow = new Map()
  for (const [lineage, start, micro] of JSON.parse(text) as [string, string, string][]) {
    const windowStart = new Date(start)
    windows.set(windowName(lineage, windowStart), { lineage, windowStart, micro: BigInt(micro) })
  }
  return windows
}

export interface CheckedPart {
  /** Where the fold started; null: at the first entry, so it replaces any saved checkpoint. */
  from: bigint | null
  to: Checkpoint
  /** Spent in this part; if it replaces the saved checkpoint, spent in all known windows. */
  spent: SpentByWindow
  findings: Finding[]
}

/**
 * Advances the checkpoint, unless another check has done so since it was read, or Postgres has lost its last block.
 * Deletes windows that no meter can have anymore.
 */
export async function saveCheckpoint(prisma: Prisma, project: string, part: CheckedPart): Promise<void> {
  const { from, to, spent, findings } = part
  const windows = [...spent.values()]
  await prisma.$executeRawUnsafe(
    `WITH moved AS (
       INSERT INTO money.checked_wallets AS c (project, seq, at, funded, reserved, settled, seal, findings, checked_at)
       SELECT $1, $2::bigint, $12::timestamptz, $3::bigint, $4::bigint, $5::bigint, $6::bytea, $7, clock_timestamp()
        WHERE $2::bigint = coalesce($8::bigint, 0) OR money.has_block($1, $2::bigint, $6::bytea)
              OR $2::bigint <= (SELECT a.seq FROM money.archived_wallets a WHERE a.project = $1)
       ON CONFLICT (project) DO UPDATE SET seq = excluded.seq, at = excluded.at, funded = excluded.funded, reserved = excluded.reserved,
         settled = excluded.settled, seal = excluded.seal, findings = excluded.findings, checked_at = excluded.checked_at
        WHERE CASE WHEN $8::bigint IS NULL THEN c.seq <= excluded.seq ELSE c.seq = $8::bigint END
       RETURNING project
     ), part AS (
       SELECT moved.project, p.* FROM moved, unnest($9::text[], $10::timestamptz[], $11::bigint[]) p (lineage, starts, spent)
        WHERE coalesce(p.starts >= ${currentWindow('p.lineage')}, true)
     ), forgotten AS (
       DELETE FROM money.checked_meters m USING moved
        WHERE m.project = moved.project
          AND NOT EXISTS (SELECT FROM part p WHERE p.lineage = m.lineage AND p.starts = m.window_start)
          AND ($8::bigint IS NULL
               OR m.window_start < ${currentWindow('m.lineage')})
     )
     INSERT INTO money.checked_meters AS m (lineage, window_start, project, spent)
     SELECT p.lineage, p.starts, p.project, p.spent FROM part p
     ON CONFLICT (project, lineage, window_start)
     DO UPDATE SET spent = CASE WHEN $8::bigint IS NULL THEN 0 ELSE m.spent END + excluded.spent`,
    project,
    to.seq,
    to.funded,
    to.reserved,
    to.settled,
    to.seal,
    JSON.stringify(findings.slice(0, MAX_REMEMBERED).map(savedFinding)),
    from,
    windows.map((w) => w.lineage),
    windows.map((w) => w.windowStart),
    windows.map((w) => w.micro),
    to.at,
  )
}

/** Start of the current window of a key or a budget. */
const currentWindow = (lineage: string) => `(
  SELECT t.window_start FROM money.meters t WHERE t.lineage = ${lineage}
  UNION ALL SELECT b.window_start FROM money.budgets b WHERE b.id = ${lineage})`

/** A finding without a block is about a balance, which each check compares again. */
interface SavedFinding {
  what: string
  where: string
  block: { after: string; seal: string; last: string } | null
}

function savedFinding({ what, where, block }: Finding): SavedFinding {
  if (!block) return { what, where, block: null }
  return {
    what,
    where,
    block: { after: String(block.after), seal: block.seal.toString('hex'), last: String(block.last) },
  }
}

function foundIn({ block }: SavedFinding): FoundIn[] {
  return block ? [{ after: BigInt(block.after), seal: Buffer.from(block.seal, 'hex'), last: BigInt(block.last) }] : []
}
