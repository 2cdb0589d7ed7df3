import { callFunction } from '@gateway/database/call-function'
import type { Deps } from '../deps.ts'
import type { SignsOfLife } from '../instances/signs-of-life.ts'

/**
 * Checks once the instances that send heartbeats to this replica, and ends those that have fallen silent. Time in which
 * no heartbeat could be received does not count as silence; the rules are in
 * prisma/functions/money/monitor_instances.sql. For instances taken over from a dead replica, it listens for signs of
 * life.
 */
export async function monitorInstances(
  { reads, replicaId }: Pick<Deps, 'reads' | 'replicaId'>,
  signsOfLife: SignsOfLife,
): Promise<{ ended: number; silenceRestarted: number; takenOver: number }> {
  const row = await callFunction(reads.sql, 'money.monitor_instances', { by_monitor: replicaId })
  await signsOfLife.follow(row.taken_over)
  return { ended: row.ended, silenceRestarted: row.silence_restarted, takenOver: row.taken_over }
}
