import type { Deps } from '../deps.ts'

// Each reservation of an ended instance, and each that is past its deadline, becomes an ordinary `expire` item. The
// item is decided under the wallet's lock, so this job needs none. Reservations of nodes are left alone: what ends the
// lease of a node releases its reservation.

const MAX_RESERVATIONS = 2_000
const BUDGET_MS = 10_000

export async function reapReservations(deps: Pick<Deps, 'reads' | 'admissionBatcher'>): Promise<{ expired: number }> {
  let expired = 0
  for (let found = MAX_RESERVATIONS; found === MAX_RESERVATIONS; expired += found) found = await expireSome(deps)
  return { expired }
}

async function expireSome({ reads, admissionBatcher }: Pick<Deps, 'reads' | 'admissionBatcher'>): Promise<number> {
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
      LIMIT ${MAX_RESERVATIONS}::int)
    UNION
    (SELECT r.id FROM money.reservations r
      WHERE r.execution IS NULL AND r.deadline_at <= (SELECT clock_timestamp())
      ORDER BY r.deadline_at LIMIT ${MAX_RESERVATIONS}::int)
    LIMIT ${MAX_RESERVATIONS}::int`
  await Promise.all(rows.map(({ id }) => admissionBatcher.submit({ op: 'expire', id }, BUDGET_MS)))
  return rows.length
}
