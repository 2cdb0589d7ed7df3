import type { RequestOf } from '@gateway/contracts/ledger-operations'
import type { Deps } from '../deps.ts'

// An instance is one incarnation of a process, alive as long as it sends heartbeats. Once ended it stays ended; a
// process that comes back after that registers under a new id. One row each, so that a thousand reservations cost one
// update a heartbeat.

/** Registers an instance or notes that it is alive; false once it has ended. */
export async function recordHeartbeat(
  { heartbeats: { prisma } }: Pick<Deps, 'heartbeats'>,
  { instance, service, deadAfterMs }: RequestOf<'heartbeat'>,
): Promise<{ alive: boolean }> {
  const rows = await prisma.$queryRaw<unknown[]>`
    INSERT INTO money.instances AS i (id, service, started_at, heartbeat_at, dead_after_ms)
    VALUES (${instance}, ${service}, clock_timestamp(), clock_timestamp(), ${deadAfterMs}::int)
    ON CONFLICT (id) DO UPDATE SET heartbeat_at = clock_timestamp() WHERE i.ended_at IS NULL
    RETURNING id`
  return { alive: rows.length > 0 }
}

/** The instance has stopped in order. What it had reserved or leased, maintenance finds. */
export async function endInstance(
  { heartbeats: { prisma } }: Pick<Deps, 'heartbeats'>,
  { instance }: RequestOf<'endInstance'>,
): Promise<object> {
  await prisma.$executeRaw`UPDATE money.instances SET ended_at = clock_timestamp() WHERE id = ${instance} AND ended_at IS NULL`
  return {}
}
