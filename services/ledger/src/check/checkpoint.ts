import type { Database } from '@gateway/database/client'
import {
  emptyBook,
  windowName,
  type Checkpoint,
  type Finding,
  type FoundIn,
  type SpentByWindow,
} from './fold-journal.ts'

// How far a wallet's journal has been folded, what its windows had spent by then, and what did not add up. Where months of
// the books are archived, the first entry that is left follows the newest archived one (money §9.4).

type Prisma = Database['prisma']

export interface Start {
  at: Checkpoint
  /** Where what is saved continues; null: it is in the place of anything that was saved. */
  from: bigint | null
  /** What was spent up to there, by the windows that a meter may still have. */
  known: SpentByWindow
  /** What did not add up in entries that were folded, until it is mended. */
  remembered: FoundIn[]
  /** The newest archived entry; 0: none is. */
  archived: bigint
}

/** More than these are reported once, and not looked at again. */
const MAX_REMEMBERED = 100

/** Where the check of a wallet begins, in one view: at its checkpoint, or if `whole` at the first entry that is left. */
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
  // Only right entries are archived: what was wrong with one is mended, and the sums behind it have to be made again.
  const isMended = remembered.some(({ last }) => last <= archived)
  if (!whole && saved && saved.seq >= archived && !isMended)
    return { at: checkpointOf(saved), from: saved.seq, known: windowsOf(saved.windows), remembered, archived }
  const at = archive ? checkpointOf(archive) : emptyBook
  return { at, from: null, known: windowsOf(archive?.windows ?? '[]'), remembered: [], archived }
}

function checkpointOf({ seq, at, funded, reserved, settled, seal }: Checkpoint): Checkpoint {
  return { seq, at, funded, reserved, settled, seal: Buffer.from(seal) }
}

/** Windows as they are stored: a JSON list of lineage, start and micro-USD. */
export function windowsOf(text: string): SpentByWindow {
  const windows: SpentByWindow = new Map()
  for (const [lineage, start, micro] of JSON.parse(text) as [string, string, string][]) {
    const windowStart = new Date(start)
    windows.set(windowName(lineage, windowStart), { lineage, windowStart, micro: BigInt(micro) })
  }
  return windows
}

export interface CheckedPart {
  /** Where the fold began; null: at the first entry, so it is in the place of anything that was saved. */
  from: bigint | null
  to: Checkpoint
  /** Spent in this part; in all of the windows that are known, where it is in the place of what was saved. */
  spent: SpentByWindow
  findings: Finding[]
}

/**
 * Moves the checkpoint on, unless someone else has done so since it was read. Windows that no meter can have anymore
 * are forgotten.
 */
export async function saveCheckpoint(prisma: Prisma, project: string, part: CheckedPart): Promise<void> {
  const { from, to, spent, findings } = part
  const windows = [...spent.values()]
  await prisma.$executeRawUnsafe(
    `WITH moved AS (
       INSERT INTO money.checked_wallets AS c (project, seq, at, funded, reserved, settled, seal, findings, checked_at)
       VALUES ($1, $2::bigint, $12::timestamptz, $3::bigint, $4::bigint, $5::bigint, $6::bytea, $7, clock_timestamp())
       ON CONFLICT (project) DO UPDATE SET seq = excluded.seq, at = excluded.at, funded = excluded.funded, reserved = excluded.reserved,
         settled = excluded.settled, seal = excluded.seal, findings = excluded.findings, checked_at = excluded.checked_at
        WHERE CASE WHEN $8::bigint IS NULL THEN c.seq <= excluded.seq ELSE c.seq = $8::bigint END
       RETURNING project
     ), part AS (
       SELECT moved.project, p.* FROM moved, unnest($9::text[], $10::timestamptz[], $11::bigint[]) p (lineage, starts, spent)
        WHERE coalesce(p.starts >= (SELECT t.window_start FROM money.meters t WHERE t.lineage = p.lineage), true)
     ), forgotten AS (
       DELETE FROM money.checked_meters m USING moved
        WHERE m.project = moved.project
          AND NOT EXISTS (SELECT FROM part p WHERE p.lineage = m.lineage AND p.starts = m.window_start)
          AND ($8::bigint IS NULL
               OR m.window_start < (SELECT t.window_start FROM money.meters t WHERE t.lineage = m.lineage))
     )
     INSERT INTO money.checked_meters AS m (lineage, window_start, project, spent)
     SELECT p.lineage, p.starts, p.project, p.spent FROM part p
     ON CONFLICT (lineage, window_start)
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

/** Without a block: of a balance, which each check compares again. */
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
