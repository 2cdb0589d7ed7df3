import { refuse } from '@gateway/api/refusal'
import type { ConsoleDeps } from '../deps.ts'
import type { Balances, Booked, Booking, Period } from './compose-statement.ts'
import { Prisma } from '@gateway/database/client'

// Reads the bookings of a period and everything they are reconciled with, in one SQL statement, so all of one moment.
// The days of the journal come from the ledger's rollup (money §9.5) and from the entries after it.

/** Maximum number of bookings by product and tag. */
export const MAX_BOOKINGS = 50_000
/** Maximum number of tags in a statement. */
const MAX_TAGS = 1_000

/**
 * Reads the bookings of each day and kind or, for `lines`, at most one more than `MAX_BOOKINGS` by product and tag as well.
 * @throws Refusal `statement_archived` if the days of this period are not known
 */
export async function readBooked(
  deps: Pick<ConsoleDeps, 'prisma'>,
  project: string,
  period: Period,
  detail: 'days' | 'lines',
): Promise<Booked> {
  const known = await readRolledUp(deps, project)
  const read = (from: RolledUp) => readAt(deps, project, { ...period, detail }, from)
  const booked = await read(known)
  // Fewer entries were found after the position than the wallet has: the clock was set back by more than a day.
  return booked.journal.entries < booked.wallet.entries ? read({ seq: known.seq, since: new Date(0) }) : booked
}

interface Row {
  asOf: Date
  final: boolean
  wallet: string | null
  check: string | null
  journal: string
  /** Day on which the balance of archived months is booked. */
  archivedDay: string | null
  opening: bigint
  bookings: string
  charges: string
  tags: string
  tagCount: number
  fundings: bigint
  corrections: bigint
}

async function readAt(
  { prisma }: Pick<ConsoleDeps, 'prisma'>,
  project: string,
  { from, to, detail }: Period & { detail: 'days' | 'lines' },
  known: RolledUp,
): Promise<Booked> {
  const inPeriod = Prisma.sql`day >= ${from}::date AND day < ${to}::date`
  const micro = Prisma.sql`CASE kind WHEN 'settle' THEN sum(settled) ELSE -sum(outside) END AS micro`
  const booking =
    detail === 'days'
      ? Prisma.sql`
      SELECT day, kind, '' AS product, '' AS tag, sum(entries) AS entries, ${micro}
        FROM moved_days WHERE ${inPeriod} AND kind IN ('fund', 'correct', 'settle') GROUP BY day, kind`
      : Prisma.sql`
      SELECT day, kind, product, tag, sum(entries) AS entries, ${micro}
        FROM moved WHERE ${inPeriod} AND kind IN ('fund', 'correct', 'settle')
       GROUP BY day, kind, product, tag LIMIT ${MAX_BOOKINGS + 1}`
  const [row] = await prisma.$queryRaw<[Row]>`
    WITH position AS MATERIALIZED (SELECT p.seq FROM money.usage_positions p WHERE p.project = ${project}),
    behind AS MATERIALIZED (
      SELECT (j.at AT TIME ZONE 'UTC')::date AS day, j.kind, v.product, v.tag, j.reserved, j.settled, j.outside
        FROM money.journal j
        LEFT JOIN LATERAL (
          SELECT a.product, a.tag FROM money.attempts a WHERE j.kind = 'settle' AND a.id = j.reference LIMIT 1) v ON true
       WHERE j.project = ${project} AND ${isAfter(known)}
         AND j.seq > coalesce((SELECT seq FROM position), 0)),
    moved AS NOT MATERIALIZED (
      SELECT day, kind, product, tag, entries, reserved, settled, outside FROM money.journal_days WHERE project = ${project}
      UNION ALL
      SELECT day, kind, coalesce(product, ''), coalesce(tag, ''), 1, reserved, settled, outside FROM behind),
    moved_days AS MATERIALIZED (
      SELECT day, kind, sum(entries) AS entries, sum(reserved) AS reserved, sum(settled) AS settled, sum(outside) AS outside
        FROM moved GROUP BY day, kind),
    booking AS (${booking}),
    charge AS (
      SELECT product, sum(entries) AS calls, sum(settled) AS micro
        FROM moved WHERE ${inPeriod} AND kind = 'settle' GROUP BY product),
    tagged AS MATERIALIZED (
      SELECT tag, sum(entries) AS calls, sum(settled) AS micro
        FROM moved WHERE ${inPeriod} AND kind = 'settle' GROUP BY tag)
    SELECT statement_timestamp() AS "asOf",
           ${to}::date::timestamptz <= statement_timestamp() - interval '1 minute' AS final,
           (SELECT json_build_object('entries', journal_seq::text, 'funded', funded::text, 'reserved', reserved::text,
                     'settled', settled::text, 'seal', encode(seal, 'hex'))::text
              FROM money.wallets WHERE project = ${project}) AS wallet,
           (SELECT json_build_object('at', checked_at, 'entry', seq, 'findings', json_array_length(findings::json))::text
              FROM money.checked_wallets WHERE project = ${project}) AS check,
           (SELECT json_build_object('entries', coalesce(sum(entries), 0)::text, 'funded', coalesce(-sum(outside), 0)::text,
                     'reserved', coalesce(sum(reserved), 0)::text, 'settled', coalesce(sum(settled), 0)::text)::text
              FROM moved_days) AS journal,
           (SELECT max(day)::text FROM moved_days WHERE kind = 'opening') AS "archivedDay",
           (SELECT coalesce(sum(-outside - settled), 0)::bigint FROM moved_days WHERE day < ${from}::date) AS opening,
           (SELECT coalesce(json_agg(json_build_object('day', day, 'kind', kind, 'product', product,
                     'tag', tag, 'entries', entries::text, 'micro', micro::text)
                     ORDER BY day, array_position(ARRAY['fund', 'correct', 'settle'], kind), product, tag), '[]')::text
              FROM booking) AS bookings,
           (SELECT coalesce(json_agg(json_build_object('model', product, 'calls', calls, 'chargedMicro', micro)
                     ORDER BY product COLLATE "C"), '[]')::text FROM charge) AS charges,
           (SELECT coalesce(json_agg(json_build_object('tag', nullif(tag, ''), 'calls', calls, 'chargedMicro', micro)
                     ORDER BY tag COLLATE "C"), '[]')::text
              FROM (SELECT * FROM tagged ORDER BY micro DESC, tag LIMIT ${MAX_TAGS}) t) AS tags,
           (SELECT count(*)::integer FROM tagged) AS "tagCount",
           (SELECT coalesce(sum(micro), 0)::bigint FROM money.fundings
             WHERE project = ${project} AND at >= ${from}::date AND at < ${to}::date) AS fundings,
           (SELECT coalesce(sum(micro), 0)::bigint FROM money.corrections
             WHERE project = ${project} AND at >= ${from}::date AND at < ${to}::date) AS corrections`
  if (row.archivedDay !== null && from <= row.archivedDay)
    throw refuse('statement_archived', { day: row.archivedDay, first: dayAfter(row.archivedDay) }, { param: 'from' })
  return bookedOf(row)
}

function bookedOf({ wallet, check, journal, bookings, charges, tags, ...rest }: Row): Booked {
  const had = wallet === null ? null : (JSON.parse(wallet) as Record<keyof Balances | 'seal', string>)
  const checked = check === null ? null : (JSON.parse(check) as NonNullable<Booked['check']>)
  return {
    ...rest,
    wallet: balancesOf(had ?? { entries: '0', funded: '0', reserved: '0', settled: '0' }),
    journal: balancesOf(JSON.parse(journal) as Record<keyof Balances, string>),
    bookings: (JSON.parse(bookings) as (Booking & Record<'entries' | 'micro', string>)[]).map((booking) => ({
      ...booking,
      entries: BigInt(booking.entries),
      micro: BigInt(booking.micro),
    })),
    charges: JSON.parse(charges) as Booked['charges'],
    tags: JSON.parse(tags) as Booked['tags'],
    check: checked && { ...checked, at: new Date(checked.at).toISOString() },
    seal: had === null || had.entries === '0' ? null : { entry: Number(had.entries), sha256: had.seal },
  }
}

function balancesOf({ entries, funded, reserved, settled }: Record<keyof Balances, string>): Balances {
  return { entries: BigInt(entries), funded: BigInt(funded), reserved: BigInt(reserved), settled: BigInt(settled) }
}

function dayAfter(day: string): string {
  const next = new Date(`${day}T00:00:00Z`)
  next.setUTCDate(next.getUTCDate() + 1)
  return next.toISOString().slice(0, 10)
}

export interface RolledUp {
  seq: bigint
  /** A day before the entry. */
  since: Date
}

/**
 * Returns the journal entry up to which a project is rolled up (money §9.2), and the time of the first entry after it.
 * A query re-reads the position in its own snapshot; this value only lets Postgres plan for the few entries after it.
 * Otherwise Postgres would scan the whole journal of a project that makes up most of the table.
 */
export async function readRolledUp(
  { prisma }: { prisma: Pick<ConsoleDeps['prisma'], '$queryRaw'> },
  project: string,
): Promise<RolledUp> {
  const [known] = await prisma.$queryRaw<RolledUp[]>`
    SELECT seq, at - interval '1 day' AS since FROM money.usage_positions WHERE project = ${project}`
  return known ?? { seq: 0n, since: new Date(0) }
}

/** More entries than a journal has. */
const MANY = 10n ** 15n

/**
 * Condition of an entry j that it is after the known position. Bounded at both ends: for a lower bound alone, a plan for any
 * value expects a third of the journal, and reads all of it.
 */
export function isAfter({ seq, since }: RolledUp): Prisma.Sql {
  return Prisma.sql`j.seq > ${seq} AND j.seq < ${seq + MANY} AND j.at >= ${since}`
}
