import type { RequestOf } from '@gateway/contracts/ledger-operations'
import type { Database } from '@gateway/database/client'

// An instance is one incarnation of a process, alive as long as it heartbeats. Once ended it stays ended; who comes back after that
// registers under a new id. One row each, so that holding a thousand reservations costs one update a heartbeat.

/** Registers an instance or notes that it lives; false once it has ended. */
export function recordHeartbeat({ prisma }: Pick<Database, 'prisma'>) {
  return async ({ instance, service, deadAfterMs }: RequestOf<'heartbeat'>): Promise<{ alive: boolean }> => {
    const rows = await prisma.$queryRaw<unknown[]>`
      INSERT INTO money.instances AS h (id, service, started_at, heartbeat_at, dead_after_ms)
      VALUES (${instance}, ${service}, clock_timestamp(), clock_timestamp(), ${deadAfterMs}::int)
      ON CONFLICT (id) DO UPDATE SET heartbeat_at = clock_timestamp() WHERE h.ended_at IS NULL
      RETURNING id`
    return { alive: rows.length > 0 }
  }
}

/** The instance has stopped in order. A maintenance job releases what it still holds. */
export function endInstance({ prisma }: Pick<Database, 'prisma'>) {
  return async ({ instance }: RequestOf<'endInstance'>): Promise<object> => {
    await prisma.$executeRaw`UPDATE money.instances SET ended_at = clock_timestamp() WHERE id = ${instance} AND ended_at IS NULL`
    return {}
  }
}

/** For how long heartbeats could be taken, by the clock of the database: since when, when looked last, and how long a look may be late. */
export interface Watch {
  sinceMs: number
  lastMs: number
  gapMs: number
}

/** Ends every instance that has not beaten for as long as it said it would, if it was watched for so long. Answers the watch from now on. */
export function endSilentInstances({ prisma }: Pick<Database, 'prisma'>) {
  return async ({ sinceMs, lastMs, gapMs }: Watch): Promise<Watch> => {
    const [row] = await prisma.$queryRaw<[{ at_ms: bigint }]>`
      WITH look AS MATERIALIZED (SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS at_ms),
      ended AS (
        UPDATE money.instances SET ended_at = clock_timestamp() FROM look
         WHERE ended_at IS NULL AND look.at_ms BETWEEN ${lastMs}::bigint AND ${lastMs}::bigint + ${gapMs}::bigint
           AND dead_after_ms <= look.at_ms - ${sinceMs}::bigint
           AND heartbeat_at + dead_after_ms * interval '1 millisecond' < clock_timestamp())
      SELECT at_ms FROM look`
    const atMs = Number(row.at_ms)
    const gap = atMs < lastMs || atMs > lastMs + gapMs
    return { sinceMs: gap ? atMs : sinceMs, lastMs: atMs, gapMs }
  }
}
