import type { RequestOf } from '@gateway/contracts/ledger-operations'
import type { Deps } from '../deps.ts'

// An instance is one incarnation of a process, alive as long as it sends heartbeats. Once ended it stays ended; a
// process that comes back after that registers under a new id. One row each, so that a thousand reservations cost one
// update a heartbeat. The replica that took the last one monitors it (I1 of monitor_instances).

/** Registers an instance or notes that it is alive; false once it has ended. */
export async function recordHeartbeat(
  { reads: { prisma }, replicaId }: Pick<Deps, 'reads' | 'replicaId'>,
  { instance, service, deadAfterMs }: RequestOf<'heartbeat'>,
): Promise<{ alive: boolean }> {
  const rows = await prisma.$queryRaw<unknown[]>`
    INSERT INTO money.instances AS i (id, service, started_at, heartbeat_at, dead_after_ms, monitor)
    VALUES (${instance}, ${service}, clock_timestamp(), clock_timestamp(), ${deadAfterMs}::int, ${replicaId})
    ON CONFLICT (id) DO UPDATE SET heartbeat_at = clock_timestamp(), monitor = excluded.monitor WHERE i.ended_at IS NULL
    RETURNING id`
  return { alive: rows.length > 0 }
}

/** The instance has stopped in order. What it had reserved or leased, maintenance finds. */
export async function endInstance(
  { reads: { prisma } }: Pick<Deps, 'reads'>,
  { instance }: RequestOf<'endInstance'>,
): Promise<object> {
  await prisma.$executeRaw`UPDATE money.instances SET ended_at = clock_timestamp() WHERE id = ${instance} AND ended_at IS NULL`
  return {}
}
