import type { Deps } from '../deps.ts'

// Each reservation of an ended instance, and each that is past its deadline, becomes an ordinary `expire` item. The
// item is decided under the wallet's lock, so this job needs none. Reservations of nodes are left alone: what ends the
// lease of a node releases its reservation.

const MAX_RESERVATIONS = 2_000
const BUDGET_MS = 10_000

export async function reapReservations(
  deps: Pick<Deps, 'heartbeats' | 'admissionBatcher'>,
): Promise<{ expired: number }> {
  let expired = 0
  for (let found = MAX_RESERVATIONS; found === MAX_RESERVATIONS; expired += found) found = await expireSome(deps)
  return { expired }
}

async function expireSome({
  heartbeats,
  admissionBatcher,
}: Pick<Deps, 'heartbeats' | 'admissionBatcher'>): Promise<number> {
  const rows = await heartbeats.prisma.$queryRaw<{ id: string }[]>`
    SELECT r.id FROM money.reservations r
     WHERE r.execution IS NULL
       AND (r.deadline_at <= clock_timestamp()
            OR NOT EXISTS (SELECT FROM money.instances i WHERE i.id = r.instance AND i.ended_at IS NULL))
     LIMIT ${MAX_RESERVATIONS}::int`
  await Promise.all(rows.map(({ id }) => admissionBatcher.submit({ op: 'expire', id }, BUDGET_MS)))
  return rows.length
}
