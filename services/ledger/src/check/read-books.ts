import type { Database } from '@gateway/database/client'
import type { Entry, FoundIn } from './fold-journal.ts'

// The books of one wallet: its journal, each entry with what other tables record of the same event, and its balances.

/** Entries per read: more than any block has, and few enough that reading and folding them blocks no one. */
export const STEP = 2_500

// Each subquery is one index probe per entry, regardless of what the planner believes about the tables.
const ENTRIES = `
  SELECT j.seq, j.at, j.kind, j.reference, j.available, j.reserved, j.settled, j.outside, b.seal, f.micro AS funding_micro,
         c.micro AS correction_micro,
         n.state, coalesce(n.reserved_micro, r.micro) AS reserved_micro, n.charged_micro, n.lineage, n.window_start,
         array_to_json(n.budgets) AS budgets, array_to_json(n.budget_windows) AS budget_windows,
         n.prompt_tokens, n.completion_tokens, n.prompt_pico, n.completion_pico, n.request_pico,
         n.cached_tokens, n.reasoning_tokens, n.cache_write_tokens, n.cached_pico, n.reasoning_pico, n.cache_write_pico,
         e.max_micro AS ceiling_micro,
         CASE WHEN e.max_micro IS NOT NULL THEN (
           SELECT sum(o.charged_micro) FROM money.attempts o WHERE o.execution = n.execution) END AS execution_micro
    FROM (SELECT * FROM money.journal
           WHERE project = $1 AND seq > $2::bigint AND seq <= coalesce($3::bigint, seq)
             AND at >= coalesce($4::timestamptz, '-infinity')
             AND at <= CASE WHEN $4 IS NULL THEN 'infinity' ELSE now() + interval '1 hour' END
           ORDER BY seq, at LIMIT ${STEP}) j
    LEFT JOIN LATERAL (
      SELECT * FROM money.journal_blocks b
       WHERE b.project = j.project AND b.last_seq = j.seq
         AND b.at BETWEEN j.at - interval '1 hour' AND j.at + interval '1 hour' LIMIT 1) b ON true
    LEFT JOIN LATERAL (
      SELECT * FROM money.fundings f
       WHERE j.kind = 'fund' AND f.project = j.project AND f.funding_id = j.reference LIMIT 1) f ON true
    LEFT JOIN LATERAL (
      SELECT * FROM money.corrections c
       WHERE j.kind = 'correct' AND c.project = j.project AND c.correction_id = j.reference LIMIT 1) c ON true
    LEFT JOIN LATERAL (
      SELECT * FROM money.reservations r
       WHERE j.kind = 'reserve' AND r.id = j.reference AND r.project = j.project LIMIT 1) r ON true
    LEFT JOIN LATERAL (
      SELECT * FROM money.attempts n
       WHERE j.kind IN ('reserve', 'settle', 'release') AND n.id = j.reference AND n.project = j.project LIMIT 1) n ON true
    LEFT JOIN LATERAL (
      SELECT * FROM money.executions x WHERE j.kind = 'settle' AND x.id = n.execution LIMIT 1) e ON true
   ORDER BY j.seq, j.at`

const LISTED = `
  SELECT coalesce(json_agg(json_build_object(
           'seq', e.seq::text, 'at', e.at, 'kind', e.kind, 'reference', e.reference,
           'available', e.available::text, 'reserved', e.reserved::text, 'settled', e.settled::text,
           'outside', e.outside::text, 'seal', encode(e.seal, 'hex'),
           'funding_micro', e.funding_micro::text, 'correction_micro', e.correction_micro::text, 'state', e.state,
           'reserved_micro', e.reserved_micro::text, 'charged_micro', e.charged_micro::text,
           'lineage', e.lineage, 'window_start', e.window_start,
           'budgets', e.budgets::text, 'budget_windows', e.budget_windows::text,
           'prompt_tokens', e.prompt_tokens::text, 'completion_tokens', e.completion_tokens::text,
           'prompt_pico', e.prompt_pico::text, 'completion_pico', e.completion_pico::text,
           'request_pico', e.request_pico::text,
           'cached_tokens', e.cached_tokens::text, 'reasoning_tokens', e.reasoning_tokens::text,
           'cached_pico', e.cached_pico::text, 'reasoning_pico', e.reasoning_pico::text,
           'cache_write_tokens', e.cache_write_tokens::text, 'cache_write_pico', e.cache_write_pico::text,
           'ceiling_micro', e.ceiling_micro::text, 'execution_micro', e.execution_micro::text) ORDER BY e.seq, e.at), '[]')::text AS list
    FROM (${ENTRIES}) e`

export interface Balances {
  funded: bigint
  reserved: bigint
  settled: bigint
  journal_seq: bigint
  seal: Uint8Array
  open_micro: bigint
  /** Reserved amounts, by window. */
  windows: { lineage: string; windowStart: string; micro: string }[]
  meters: { lineage: string; windowStart: string; spent: string; reserved: string; open: string }[]
}

type Prisma = Database['prisma']

/**
 * Reads the balances of a wallet and up to `STEP` entries behind one of its journal, in one view. null: no wallet.
 * @param since reads only entries from then until now, so that other partitions are skipped; null: all entries
 */
export async function readBooks(
  prisma: Prisma,
  project: string,
  after: bigint,
  since: Date | null,
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
              WHERE m.project = $1) AS meters,
            (${LISTED}) AS list
       FROM money.wallets w WHERE w.project = $1`,
    project,
    after,
    null,
    since,
  )
  if (!row) return null
  return {
    ...row,
    meters: JSON.parse(row.meters) as Balances['meters'],
    windows: JSON.parse(row.windows) as Balances['windows'],
    list: entriesOf(row.list),
  }
}

/** Reads up to `STEP` entries behind one of a journal. */
export async function readEntries(prisma: Prisma, project: string, after: bigint): Promise<Entry[]> {
  return (await readListed(prisma, project, { after })).map(entryOf)
}

/** Reads the entries of one block of a journal. */
export async function readBlock(prisma: Prisma, project: string, { after, last }: FoundIn): Promise<Entry[]> {
  return (await readListed(prisma, project, { after, last })).map(entryOf)
}

/** An entry as text and null by the field names of `Entry`, as read from the database or a line of an archive. */
export type ListedEntry = Record<string, string | null>

interface Part {
  after: bigint
  last?: bigint
  /** Reads only entries from then until now, so that other partitions are skipped; none: all entries. */
  since?: Date | null
}

/** Reads a part of a journal, at most `STEP` entries. */
export async function readListed(prisma: Prisma, project: string, part: Part): Promise<ListedEntry[]> {
  const { after, last = null, since = null } = part
  const [row] = await prisma.$queryRawUnsafe<[{ list: string }]>(LISTED, project, after, last, since)
  return JSON.parse(row.list) as ListedEntry[]
}

function entriesOf(list: string): Entry[] {
  return (JSON.parse(list) as ListedEntry[]).map(entryOf)
}

/** Parses an entry. Fields that are null may be left out. */
export function entryOf(row: ListedEntry): Entry {
  const big = (name: string) => (row[name] === null || row[name] === undefined ? null : BigInt(row[name]))
  return {
    seq: big('seq')!,
    at: new Date(row['at']!),
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
    budgets: budgetsOf(row),
    prompt_tokens: big('prompt_tokens'),
    completion_tokens: big('completion_tokens'),
    prompt_pico: big('prompt_pico'),
    completion_pico: big('completion_pico'),
    request_pico: big('request_pico'),
    cached_tokens: big('cached_tokens'),
    reasoning_tokens: big('reasoning_tokens'),
    cache_write_tokens: big('cache_write_tokens'),
    cached_pico: big('cached_pico'),
    reasoning_pico: big('reasoning_pico'),
    cache_write_pico: big('cache_write_pico'),
    ceiling_micro: big('ceiling_micro'),
    execution_micro: big('execution_micro'),
  }
}

function budgetsOf({ budgets, budget_windows: windows }: ListedEntry): Entry['budgets'] {
  if (!budgets || !windows) return []
  const starts = JSON.parse(windows) as string[]
  return (JSON.parse(budgets) as string[]).map((id, n) => ({ id, windowStart: new Date(starts[n]!) }))
}
