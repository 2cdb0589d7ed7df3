import { aliveTopic } from '@gateway/ledger-protocol/ledger-reads'
import type { Deps } from '../deps.ts'
import type { RequestOf } from '@gateway/ledger-protocol/ledger-operations'

// An instance may be alive and reach no replica of the ledger: the one that heard it is gone and has been taken over
// (I4 of monitor_instances), or the connection to it is silent. It sends signs of life through the notifier for as long
// as its heartbeats reach no replica, and the replica that monitors it listens.
//   S1  A sign of life counts as a heartbeat only at the replica that monitors the instance now.
//   S2  Signs count for SIGNS_COUNT_FOR_MS from the moment at which this replica starts to listen. An instance that
//       reaches no ledger for longer does not work.
//   S3  Signs may be lost, or come without a cause. Without any, silence ends the instance as it does everywhere else.
//   S4  While the replica that heard it monitors it, signs keep only gateways alive: their calls were answered and paid
//       for, and end with them. A worker's nodes are for others to take as soon as it is not heard.

const SIGNS_COUNT_FOR_MS = 120_000
/** A gateway that was silent for this fraction of the time after which it is dead has missed a heartbeat. */
const LATE = 0.4

export type SignsOfLife = ReturnType<typeof openSignsOfLife>

type SignDeps = Pick<Deps, 'reads' | 'notifier' | 'replicaId' | 'now' | 'log'>

export function openSignsOfLife(deps: SignDeps) {
  const { notifier, now, log } = deps
  const listening = new Map<string, { untilMs: number; unsubscribe: () => void }>()
  let mustListen = false

  function forget(instance: string): void {
    listening.get(instance)?.unsubscribe()
    listening.delete(instance)
  }

  async function onSign(instance: string): Promise<void> {
    try {
      if (!(await takeSign(deps, instance))) forget(instance) // S1: it has ended, or another replica hears it
    } catch (error) {
      log.warn({ err: error, instance }, 'sign of life not recorded')
    }
  }

  return {
    /** After each run of the monitor, listens for instances that this replica has not heard, until it hears them. */
    async follow(takenOver: number): Promise<void> {
      mustListen ||= takenOver > 0
      const unheard = new Set(await readUnheard(deps, { hasTakenOver: mustListen, listening: [...listening.keys()] }))
      mustListen = false
      for (const [instance, { untilMs, unsubscribe }] of listening) {
        if (!unheard.has(instance)) forget(instance)
        else if (now() >= untilMs) unsubscribe() // S2
      }
      for (const instance of unheard) {
        if (listening.has(instance)) continue
        const unsubscribe = notifier.subscribe(aliveTopic(instance), () => void onSign(instance))
        listening.set(instance, { untilMs: now() + SIGNS_COUNT_FOR_MS, unsubscribe })
      }
    },
  }
}

/** Reads the gateways that are late (S4), and the taken-over instances that were not heard since. */
async function readUnheard(
  { reads: { prisma }, replicaId }: SignDeps,
  { hasTakenOver, listening }: { hasTakenOver: boolean; listening: string[] },
): Promise<string[]> {
  const rows = await prisma.$queryRaw<{ id: string }[]>`
    SELECT id FROM money.instances
     WHERE monitor = ${replicaId} AND ended_at IS NULL
       AND ((${hasTakenOver} OR id = ANY (${listening})) AND heartbeat_at < watched_from
         OR service = 'gateway'
            AND heartbeat_at < clock_timestamp() - ${LATE}::float8 * dead_after_ms * interval '1 millisecond')`
  return rows.map(({ id }) => id)
}

/** Returns whether the sign was for this replica to count (S1). */
async function takeSign({ reads: { prisma }, replicaId }: SignDeps, instance: string): Promise<boolean> {
  const taken = await prisma.$executeRaw`
    UPDATE money.instances SET watched_from = clock_timestamp()
     WHERE id = ${instance} AND monitor = ${replicaId} AND ended_at IS NULL`
  return taken > 0
}

// An instance is one incarnation of a process, alive as long as it sends heartbeats. Once ended it stays ended; a
// process that comes back after that registers under a new id. There is one row per instance, so that a thousand
// reservations cost one update per heartbeat. The replica that took the last one monitors it (I1 of monitor_instances).

/** Registers an instance or records that it is alive; false once it has ended. */
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

/** Ends an instance that stopped in order. Maintenance finds what it had reserved or leased. */
export async function endInstance(
  { reads: { prisma } }: Pick<Deps, 'reads'>,
  { instance }: RequestOf<'endInstance'>,
): Promise<object> {
  await prisma.$executeRaw`UPDATE money.instances SET ended_at = clock_timestamp() WHERE id = ${instance} AND ended_at IS NULL`
  return {}
}
