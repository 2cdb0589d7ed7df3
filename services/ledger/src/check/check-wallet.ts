import type { Database } from '@gateway/database/client'
import {
  emptyBook,
  foldJournal,
  windowName,
  type Checkpoint,
  type Entry,
  type Finding,
  type SpentByWindow,
} from './fold-journal.ts'

// One wallet's books, derived again from its journal (money §8).
//   C1  Entries are folded in steps of a few thousand up to a checkpoint; entries never change, so steps need no common
//       view.
//   C2  The last step is one statement, so its view of wallet, meters, open reservations and newest entries is one
//       moment's.
//   C3  No step holds a lock or lasts a second: admissions go on.

const STEP = 5_000

const ENTRIES = `
  SELECT j.seq, j.kind, j.reference, j.available, j.reserved, j.settled, j.outside, b.seal, f.micro AS funding_micro, c.micro AS correction_micro,
         n.state, coalesce(n.reserved_micro, r.micro) AS reserved_micro, n.charged_micro, n.lineage, n.window_start
    FROM money.journal j
    LEFT JOIN money.journal_blocks b ON b.project = j.project AND b.last_seq = j.seq
    LEFT JOIN money.fundings f ON j.kind = 'fund' AND f.project = j.project AND f.funding_id = j.reference
    LEFT JOIN money.corrections c ON j.kind = 'correct' AND c.project = j.project AND c.correction_id = j.reference
    LEFT JOIN money.reservations r ON j.kind = 'reserve' AND r.id = j.reference AND r.project = j.project
    LEFT JOIN money.attempts n ON j.kind IN ('reserve', 'settle', 'release') AND n.id = j.reference AND n.project = j.project
   WHERE j.project = $1 AND j.seq > $2
   ORDER BY j.seq LIMIT $3`

interface Balances {
  funded: bigint
  reserved: bigint
  settled: bigint
  journal_seq: bigint
  seal: Uint8Array
  open_micro: bigint
  /** What is reserved, by window. */
  windows: { lineage: string; windowStart: string; micro: string }[]
  meters: { lineage: string; windowStart: string; spent: string; reserved: string; open: string }[]
}

/** Checks one wallet from where the last check ended, or from the start if `whole`. Answers what does not add up. */
export async function checkWallet(
  { prisma }: Pick<Database, 'prisma'>,
  project: string,
  whole: boolean,
): Promise<Finding[]> {
  const findings: Finding[] = []
  const start = whole ? { at: emptyBook, known: new Map() } : await readCheckpoint(prisma, project)
  const spent: SpentByWindow = new Map()
  for (let at = start.at; ;) {
    const balances = await readBalances(prisma, project, at.seq)
    if (!balances) return findings
    const step = foldJournal(at, balances.list)
    findings.push(...step.findings)
    addSpent(spent, step.spent)
    const stuck = balances.list.length === STEP && step.to.seq === at.seq // no block is that long: a seal is missing
    at = step.to
    if (balances.list.length < STEP || stuck) {
      const all = new Map(start.known)
      addSpent(all, spent)
      findings.push(...compare(project, at, balances, all))
      if (findings.length === 0 && !whole) await saveCheckpoint(prisma, project, start.at.seq, at, spent)
      return findings
    }
  }
}

type Prisma = Database['prisma']

/** The checkpoint and what it knew of the windows, in one view. */
async function readCheckpoint(prisma: Prisma, project: string): Promise<{ at: Checkpoint; known: SpentByWindow }> {
  const [row] = await prisma.$queryRaw<(Checkpoint & { windows: string })[]>`
    SELECT c.seq, c.funded, c.reserved, c.settled, c.seal,
           (SELECT coalesce(json_agg(json_build_array(lineage, window_start, spent::text)), '[]')::text
              FROM money.checked_meters m WHERE m.project = c.project) AS windows
      FROM money.checked_wallets c WHERE c.project = ${project}`
  const known: SpentByWindow = new Map()
  if (!row) return { at: emptyBook, known }
  for (const [lineage, start, micro] of JSON.parse(row.windows) as [string, string, string][]) {
    const windowStart = new Date(start)
    known.set(windowName(lineage, windowStart), { lineage, windowStart, micro: BigInt(micro) })
  }
  return { at: { ...row, seal: Buffer.from(row.seal) }, known }
}

async function readBalances(
  prisma: Prisma,
  project: string,
  after: bigint,
): Promise<(Balances & { list: Entry[] }) | null> {
  const [row] = await prisma.$queryRawUnsafe<
    (Omit<Balances, 'meters' | 'windows'> & { meters: string; windows: string; list: string })[]
  >(
    `WITH open AS MATERIALIZED (
       SELECT lineage, window_start, sum(micro) AS micro FROM money.reservations WHERE project = $1 GROUP BY 1, 2)
     SELECT w.funded, w.reserved, w.settled, w.journal_seq, w.seal,
            (SELECT coalesce(sum(micro), 0)::bigint FROM open) AS open_micro,
            (SELECT coalesce(json_agg(json_build_object(
                      'lineage', lineage, 'windowStart', window_start, 'micro', micro::text)), '[]')::text
               FROM open WHERE window_start IS NOT NULL) AS windows,
            (SELECT coalesce(json_agg(json_build_object(
                      'lineage', m.lineage, 'windowStart', m.window_start, 'spent', m.spent::text,
                      'reserved', m.reserved::text, 'open', coalesce(o.micro, 0)::text)), '[]')::text
               FROM money.meters m
               LEFT JOIN open o ON o.lineage = m.lineage AND o.window_start = m.window_start
              WHERE m.project = w.project) AS meters,
            (SELECT coalesce(json_agg(json_build_object(
                      'seq', e.seq::text, 'kind', e.kind, 'reference', e.reference,
                      'available', e.available::text, 'reserved', e.reserved::text, 'settled', e.settled::text,
                      'outside', e.outside::text, 'seal', encode(e.seal, 'hex'),
                      'funding_micro', e.funding_micro::text, 'correction_micro', e.correction_micro::text,
                      'state', e.state,
                      'reserved_micro', e.reserved_micro::text, 'charged_micro', e.charged_micro::text,
                      'lineage', e.lineage, 'window_start', e.window_start) ORDER BY e.seq), '[]')::text
               FROM (${ENTRIES}) e) AS list
       FROM money.wallets w WHERE w.project = $1`,
    project,
    after,
    STEP,
  )
  if (!row) return null
  const entries = (JSON.parse(row.list) as Record<string, string | null>[]).map(entryOf)
  return {
    ...row,
    meters: JSON.parse(row.meters) as Balances['meters'],
    windows: JSON.parse(row.windows) as Balances['windows'],
    list: entries,
  }
}

function entryOf(row: Record<string, string | null>): Entry {
  const big = (name: string) => (row[name] === null || row[name] === undefined ? null : BigInt(row[name]))
  return {
    seq: big('seq')!,
    kind: row['kind'] as Entry['kind'],
    reference: row['reference']!,
    available: big('available')!,
    reserved: big('reserved')!,
    settled: big('settled')!,
    outside: big('outside')!,
    seal: row['seal'] ? Buffer.from(row['seal'], 'hex') : null,
    funding_micro: big('funding_micro'),
    correction_micro: big('correction_micro'),
    state: row['state'] as Entry['state'],
    reserved_micro: big('reserved_micro'),
    charged_micro: big('charged_micro'),
    lineage: row['lineage'] ?? null,
    window_start: row['window_start'] ? new Date(row['window_start']) : null,
  }
}

function compare(project: string, at: Checkpoint, found: Balances, spent: SpentByWindow): Finding[] {
  const findings: Finding[] = []
  const same = (what: string, where: string, expectedMicro: bigint, foundMicro: bigint) => {
    if (expectedMicro !== foundMicro) findings.push({ what, where, expectedMicro, foundMicro })
  }
  const wallet = `wallet ${project}`
  same('funded differs from the journal', wallet, at.funded, found.funded)
  same('reserved differs from the journal', wallet, at.reserved, found.reserved)
  same('settled differs from the journal', wallet, at.settled, found.settled)
  same('reserved differs from the open reservations', wallet, found.open_micro, found.reserved)
  same('the journal is shorter than the wallet says', wallet, found.journal_seq, at.seq)
  if (!at.seal.equals(found.seal))
    findings.push({ what: 'the seal differs from the journal', where: wallet, expectedMicro: 0n, foundMicro: 0n })
  if (found.settled + found.reserved > found.funded)
    findings.push({
      what: 'more is reserved and spent than was funded',
      where: wallet,
      expectedMicro: found.funded,
      foundMicro: found.settled + found.reserved,
    })
  // A window with spending or reservations that is later than its meter's, or has no meter, lets its key spend twice.
  const newest = new Map(found.meters.map((meter) => [meter.lineage, new Date(meter.windowStart)]))
  const reserved = found.windows.map((window) => ({
    ...window,
    windowStart: new Date(window.windowStart),
    micro: BigInt(window.micro),
  }))
  for (const { lineage, windowStart, micro } of [...spent.values(), ...reserved]) {
    const start = newest.get(lineage)
    if (!start || start < windowStart)
      same('the meter of this window is missing', `meter ${lineage} from ${windowStart.toISOString()}`, micro, 0n)
  }
  for (const meter of found.meters) {
    const where = `meter ${meter.lineage} from ${meter.windowStart}`
    const folded = spent.get(windowName(meter.lineage, new Date(meter.windowStart)))?.micro ?? 0n
    same('reserved differs from the open reservations', where, BigInt(meter.open), BigInt(meter.reserved))
    same('spent differs from the journal', where, folded, BigInt(meter.spent))
  }
  return findings
}

function addSpent(into: SpentByWindow, more: SpentByWindow): void {
  for (const [name, window] of more) into.set(name, { ...window, micro: (into.get(name)?.micro ?? 0n) + window.micro })
}

/** Moves the checkpoint on, unless somebody else has done so since it was read. */
async function saveCheckpoint(
  prisma: Prisma,
  project: string,
  from: bigint,
  at: Checkpoint,
  spent: SpentByWindow,
): Promise<void> {
  const windows = [...spent.values()]
  await prisma.$executeRaw`
    WITH moved AS (
      INSERT INTO money.checked_wallets AS c (project, seq, funded, reserved, settled, seal, checked_at)
      VALUES (${project}, ${at.seq}, ${at.funded}, ${at.reserved}, ${at.settled}, ${at.seal}, clock_timestamp())
      ON CONFLICT (project) DO UPDATE SET seq = excluded.seq, funded = excluded.funded, reserved = excluded.reserved,
        settled = excluded.settled, seal = excluded.seal, checked_at = excluded.checked_at
       WHERE c.seq = ${from}
      RETURNING project
    )
    INSERT INTO money.checked_meters AS m (lineage, window_start, project, spent)
    SELECT l, w, moved.project, s FROM moved, unnest(${windows.map((w) => w.lineage)}::text[],
      ${windows.map((w) => w.windowStart)}::timestamptz[], ${windows.map((w) => w.micro)}::bigint[]) t (l, w, s)
    ON CONFLICT (lineage, window_start) DO UPDATE SET spent = m.spent + excluded.spent`
}
