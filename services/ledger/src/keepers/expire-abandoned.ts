import type { Database } from '@gateway/database/client'
import type { Lanes } from '../batch/lanes.ts'
import { endSilentHolders } from '../holders.ts'

// What a dead process left is released: its holder is ended, and each reservation becomes an ordinary `expire` item.
// After an outage of the ledger or of Postgres every holder looks silent, because nobody could take its beat. So silence
// counts only after this keeper has been able to look, without a gap, for as long as that holder may be silent.

interface Needs {
  database: Pick<Database, 'prisma'>
  lanes: Lanes
  now: () => number
}

const AT_ONCE = 2_000
const BUDGET_MS = 10_000

export function expireAbandoned({ database, lanes, now }: Needs): () => Promise<void> {
  const endSilent = endSilentHolders(database)
  let lookingSinceMs = now()
  return async () => {
    try {
      await endSilent(now() - lookingSinceMs)
      for (let found = AT_ONCE; found === AT_ONCE;) found = await expireSome(database, lanes)
    } catch (error) {
      lookingSinceMs = now()
      throw error
    }
  }
}

async function expireSome({ prisma }: Pick<Database, 'prisma'>, lanes: Lanes): Promise<number> {
  const rows = await prisma.$queryRaw<{ id: string }[]>`
    SELECT r.id FROM money.reservations r
     WHERE r.deadline_at <= clock_timestamp()
        OR NOT EXISTS (SELECT FROM money.holders h WHERE h.id = r.holder AND h.ended_at IS NULL)
     LIMIT ${AT_ONCE}::int`
  await Promise.all(rows.map(({ id }) => lanes.submit({ op: 'expire', id }, BUDGET_MS)))
  return rows.length
}
