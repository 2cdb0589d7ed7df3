import type { Deps } from '../deps.ts'

// Each reservation of an ended instance, and each that is past its deadline, becomes an ordinary `expire` item. The
// item is decided under the wallet's lock, so this job needs none. Reservations of nodes are left alone: what ends the
// lease of a node releases its reservation; and so are those whose settlement is kept because it could not be written (K2
// of set-aside/kept-items.ts).

const MAX_RESERVATIONS = 2_000
const BUDGET_MS = 10_000

export async function reapReservations(deps: Pick<Deps, 'reads' | 'admissionBatcher'>): Promise<{ expired: number }> {
  let expired = 0
  for (;;) {
    const { found, decided } = await expireSome(deps)
    expired += decided
    if (found < MAX_RESERVATIONS || decided === 0) return { expired }
  }
}

async function expireSome({ reads, admissionBatcher }: Pick<Deps, 'reads' | 'admissionBatcher'>) {
  const rows = await reads.prisma.$queryRaw<{ id: string }[]>`
    SELECT r.id FROM money.reservations r
     WHERE r.execution IS NULL
       AND NOT EXISTS (SELECT FROM money.set_aside_items s WHERE s.name = r.id)
       AND (r.deadline_at <= clock_timestamp()
            OR NOT EXISTS (SELECT FROM money.instances i WHERE i.id = r.instance AND i.ended_at IS NULL))
     LIMIT ${MAX_RESERVATIONS}::int`
  const outcomes = await Promise.all(rows.map(({ id }) => admissionBatcher.submit({ op: 'expire', id }, BUDGET_MS)))
  return { found: rows.length, decided: outcomes.filter(({ kind }) => kind !== 'undecided').length }
}
