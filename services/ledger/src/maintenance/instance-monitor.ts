import { callFunction } from '@gateway/database/call-function'
import type { Deps } from '../deps.ts'
import type { SignsOfLife } from '../instances/signs-of-life.ts'

/**
 * Looks once at the instances whose heartbeats this replica takes, and ends those that have fallen silent. A time in
 * which no heartbeat could have been taken is not a silence: the rules are in
 * prisma/functions/money/monitor_instances.sql. Of instances that it takes over from a replica that is gone it
 * listens for signs of life.
 */
export async function monitorInstances(
  { reads, replicaId }: Pick<Deps, 'reads' | 'replicaId'>,
  signsOfLife: SignsOfLife,
): Promise<{ ended: number; countedAnew: number; takenOver: number }> {
  const row = await callFunction(reads.sql, 'money.monitor_instances', { by_monitor: replicaId })
  await signsOfLife.follow(row.taken_over)
  return { ended: row.ended, countedAnew: row.counted_anew, takenOver: row.taken_over }
}
