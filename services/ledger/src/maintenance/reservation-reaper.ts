import type { Deps } from '../deps.ts'

// Reservations of direct calls that no one will close become ordinary `expire` items, which are decided under the
// wallet's lock, so this job needs none. Reservations of nodes are left alone: ending the lease of a node releases its
// reservation.
//   D1  The reservation of an instance that has ended is released at once.
//   D2  Past its deadline, a reservation of a living instance is released only once settlements could be accepted for
//       the grace (RELEASE_GRACE_MS) without a gap: after an outage, living instances repeat theirs, and those come
//       first.
//   D3  Each turn tests whether settlements can be accepted: it begins with a closing of a reservation that does not
//       exist, which takes the same path as all others.
//   D4  A reservation with a settlement that is kept because it could not be written is left alone (K2 of
//       quarantine/kept-items.ts).
//   D5  A project with a reservation that could not be released, such as one whose wallet row is corrupt, is passed over
//       for the rest of the turn, so that its reservations do not keep those of others from their turn.

/** Maximum time between two turns; a longer one is a gap. Turns are two seconds apart. */
const MAX_GAP_MS = 6_000
const MAX_RESERVATIONS = 2_000
const BUDGET_MS = 10_000
const PROBE_MS = 3_000

/** Start and end of the time in which settlements were accepted without a gap. Unix milliseconds, database's clock. */
interface Watch {
  sinceMs: number
  lastMs: number
}

interface Limits {
  /** How long settlements must have been accepted before a deadline counts. */
  graceMs: number
  /** Number of reservations that are released together. */
  atOnce?: number
}

type ReaperDeps = Pick<Deps, 'reads' | 'admissionBatcher' | 'replicaId'>

/** Keeps its watch between turns, so each replica opens one. */
export function openReservationReaper(deps: ReaperDeps, { graceMs, atOnce = MAX_RESERVATIONS }: Limits) {
  let watch: Watch = { sinceMs: Infinity, lastMs: -Infinity }
  return {
    async runOnce(): Promise<{ expired: number }> {
      const passedOver = new Set<string>()
      let expired = 0
      watch = await refresh(deps, watch)
      for (;;) {
        const graceBeganMs = watch.lastMs - graceMs
        const overdueAtMs = watch.sinceMs <= graceBeganMs ? graceBeganMs : null // D2
        const { found, released, undecided } = await expireSome(deps, { overdueAtMs, atOnce, passedOver })
        expired += released
        if (found < atOnce || (released === 0 && undecided.length === 0)) return { expired }
        for (const project of undecided) passedOver.add(project) // D5
        watch = await refresh(deps, watch) // the ones before may have taken long
        if (watch.sinceMs === Infinity) return { expired }
      }
    },
  }
}

/** D3. If none could be accepted, or the clock went back, the watch starts again with the next turn. */
async function refresh({ reads, admissionBatcher, replicaId }: ReaperDeps, before: Watch): Promise<Watch> {
  const { kind } = await admissionBatcher.submit({ op: 'expire', id: `none of ${replicaId}` }, PROBE_MS)
  const [row] = await reads.prisma.$queryRaw<[{ at_ms: bigint }]>`
    SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS at_ms`
  const atMs = Number(row.at_ms)
  if (kind === 'undecided') return { sinceMs: Infinity, lastMs: -Infinity }
  const hasGap = atMs < before.lastMs || atMs > before.lastMs + MAX_GAP_MS
  return { sinceMs: hasGap ? atMs : before.sinceMs, lastMs: atMs }
}

interface Due {
  /** Deadlines up to then count, in Unix milliseconds; null: none do. */
  overdueAtMs: number | null
  atOnce: number
  /** Projects to leave out. */
  passedOver: ReadonlySet<string>
}

/** Returns also the projects of those that were left undecided. */
async function expireSome(
  { reads, admissionBatcher }: ReaperDeps,
  { overdueAtMs, atOnce, passedOver }: Due,
): Promise<{ found: number; released: number; undecided: string[] }> {
  const skipped = [...passedOver]
  // Each half is an index lookup that reads only due rows. The instances are taken from the reservations in sequence,
  // each once, so that those without a row are found as well.
  const rows = await reads.prisma.$queryRaw<{ id: string; project: string }[]>`
    WITH RECURSIVE holding (instance) AS (
      SELECT min(r.instance) FROM money.reservations r
       UNION ALL
      SELECT (SELECT min(r.instance) FROM money.reservations r WHERE r.instance > h.instance)
        FROM holding h WHERE h.instance IS NOT NULL
    ), ended AS MATERIALIZED (
      SELECT instance FROM holding h
       WHERE NOT EXISTS (SELECT FROM money.instances i WHERE i.id = h.instance AND i.ended_at IS NULL)
    )
    (SELECT r.id, r.project FROM money.reservations r
      WHERE r.execution IS NULL AND r.instance = ANY (ARRAY(SELECT instance FROM ended))
         AND NOT EXISTS (SELECT FROM money.quarantined_items s WHERE s.name = r.id)
         AND r.project <> ALL (${skipped}::text[])
      LIMIT ${atOnce}::int)
    UNION
    (SELECT r.id, r.project FROM money.reservations r
      WHERE r.execution IS NULL AND r.deadline_at <= to_timestamp(${overdueAtMs}::float8 / 1000)
         AND NOT EXISTS (SELECT FROM money.quarantined_items s WHERE s.name = r.id)
         AND r.project <> ALL (${skipped}::text[])
      ORDER BY r.deadline_at LIMIT ${atOnce}::int)
    LIMIT ${atOnce}::int`
  const outcomes = await Promise.all(rows.map(({ id }) => admissionBatcher.submit({ op: 'expire', id }, BUDGET_MS)))
  return {
    found: rows.length,
    released: outcomes.filter(({ kind }) => kind === 'released').length,
    undecided: rows.filter((_, n) => outcomes[n]!.kind === 'undecided').map(({ project }) => project),
  }
}
