import type { Database } from '@gateway/database/client'
import type { AdmissionBatcher } from '../admissions/admission-batcher.ts'

// What a dead process left is released: each reservation of an ended instance, and each that is past its deadline, becomes an
// ordinary `expire` item. The item is decided under the wallet's lock, so a maintenance job needs none. Not those of nodes of runs: whoever
// takes back a node releases its reservation with it.

interface Deps {
  database: Pick<Database, 'prisma'>
  admissionBatcher: AdmissionBatcher
}

const AT_ONCE = 2_000
const BUDGET_MS = 10_000

export function expireAbandoned({ database: { prisma }, admissionBatcher }: Deps): () => Promise<void> {
  return async () => {
    for (let found = AT_ONCE; found === AT_ONCE;) found = await expireSome()
  }

  async function expireSome(): Promise<number> {
    const rows = await prisma.$queryRaw<{ id: string }[]>`
      SELECT r.id FROM money.reservations r
       WHERE r.execution IS NULL
         AND (r.deadline_at <= clock_timestamp()
              OR NOT EXISTS (SELECT FROM money.instances h WHERE h.id = r.instance AND h.ended_at IS NULL))
       LIMIT ${AT_ONCE}::int`
    await Promise.all(rows.map(({ id }) => admissionBatcher.submit({ op: 'expire', id }, BUDGET_MS)))
    return rows.length
  }
}
