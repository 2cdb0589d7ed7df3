import type { Deps } from '../deps.ts'

// Reservations of direct calls that no one closes anymore become ordinary `expire` items, which are decided under the
// wallet's lock; so this job needs none. Reservations of nodes are left alone: what ends the lease of a node releases
// its reservation.
//   D1  The reservation of an instance that has ended is released at once.
//   D2  Past its deadline a reservation of a living instance is released only once settlements could be taken for
//       the grace (RELEASE_GRACE_MS) without a gap: after an outage the instances that lived repeat theirs, and those come first.
//   D3  Whether settlements can be taken is seen by one that is: each turn begins with a closing of a reservation that
//       no one has, which goes the way of all others.
//   D4  What has a settlement that is kept because it could not be written is left alone (K2 of quarantine/kept-items.ts).

/** Between two turns; a longer one is a gap. Turns are two seconds apart. */
const MAX_GAP_MS = 6_000
const MAX_RESERVATIONS = 2_000
const BUDGET_MS = 10_000
const PROBE_MS = 3_000

/** Since when settlements could be taken without a gap, and when last, in Unix milliseconds of the database's clock. */
interface Watch {
  sinceMs: number
  lastMs: number
}

type ReaperDeps = Pick<Deps, 'reads' | 'admissionBatcher' | 'replicaId'>

/**
 * Keeps its watch between the turns, so there is one for each replica.
 * @param graceMs how long settlements must have been taken before a deadline counts
 */
export function openReservationReaper(deps: ReaperDeps, { graceMs }: { graceMs: number }) {
  let watch: Watch = { sinceMs: Infinity, lastMs: -Infinity }
  return {
    async runOnce(): Promise<{ expired: number }> {
      watch = await refresh(deps, watch)
      const graceBeganMs = watch.lastMs - graceMs
      const overdueAtMs = watch.sinceMs <= graceBeganMs ? graceBeganMs : null // D2
      let expired = 0
      for (;;) {
        const { found, released } = await expireSome(deps, overdueAtMs)
        expired += released
        if (found < MAX_RESERVATIONS || released === 0) return { expired }
      }
    },
  }
}

/** D3. Where nothing could be taken, or the clock went back, the watch begins again with the next turn. */
async function refresh({ reads, admissionBatcher, replicaId }: ReaperDeps, before: Watch): Promise<Watch> {
  const { kind } = await admissionBatcher.submit({ op: 'expire', id: `none of ${replicaId}` }, PROBE_MS)
  const [row] = await reads.prisma.$queryRaw<[{ at_ms: bigint }]>`
    SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS at_ms`
  const atMs = Number(row.at_ms)
  if (kind === 'undecided') return { sinceMs: Infinity, lastMs: -Infinity }
  const hasGap = atMs < before.lastMs || atMs > before.lastMs + MAX_GAP_MS
  return { sinceMs: hasGap ? atMs : before.sinceMs, lastMs: atMs }
}

/** @param overdueAtMs deadlines up to then count, in Unix milliseconds; null: none does */
async function expireSome(
  { reads, admissionBatcher }: ReaperDeps,
  overdueAtMs: number | null,
): Promise<{ found: number; released: number }> {
  // Each half is a look into an index: neither reads what is not due. The instances are taken from the reservations one
  // after the other, each once, so that those without a row are found as well.
  const rows = await reads.prisma.$queryRaw<{ id: string }[]>`
    WITH RECURSIVE holding (instance) AS (
      SELECT min(r.instance) FROM money.reservations r
       UNION ALL
      SELECT (SELECT min(r.instance) FROM money.reservations r WHERE r.instance > h.instance)
        FROM holding h WHERE h.instance IS NOT NULL
    ), ended AS MATERIALIZED (
      SELECT instance FROM holding h
       WHERE NOT EXISTS (SELECT FROM money.instances i WHERE i.id = h.instance AND i.ended_at IS NULL)
    )
    (SELECT r.id FROM money.reservations r
      WHERE r.execution IS NULL AND r.instance = ANY (ARRAY(SELECT instance FROM ended))
         AND NOT EXISTS (SELECT FROM money.quarantined_items s WHERE s.name = r.id)
      LIMIT ${MAX_RESERVATIONS}::int)
    UNION
    (SELECT r.id FROM money.reservations r
      WHERE r.execution IS NULL AND r.deadline_at <= to_timestamp(${overdueAtMs}::float8 / 1000)
         AND NOT EXISTS (SELECT FROM money.quarantined_items s WHERE s.name = r.id)
      ORDER BY r.deadline_at LIMIT ${MAX_RESERVATIONS}::int)
    LIMIT ${MAX_RESERVATIONS}::int`
  const outcomes = await Promise.all(rows.map(({ id }) => admissionBatcher.submit({ op: 'expire', id }, BUDGET_MS)))
  return { found: rows.length, released: outcomes.filter(({ kind }) => kind === 'released').length }
}
