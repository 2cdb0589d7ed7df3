import { aliveTopic } from '@gateway/contracts/ledger-reads'
import type { Deps } from '../deps.ts'

// An instance whose replica of the ledger is gone may live, and reach no other one before that is back. Whoever has
// taken it over (I4 of monitor_instances_v1) hears from it by the notifier, which it uses for as long as its heartbeats
// find nobody.
//   S1  A sign of life is taken for a heartbeat only by the replica that monitors the instance now.
//   S2  It counts for SIGNS_COUNT_FOR_MS from the moment of the takeover. What reaches no ledger for longer does not
//       work.
//   S3  Signs may be lost, or come without a cause. Without any, silence ends the instance as it does everywhere else.

const SIGNS_COUNT_FOR_MS = 120_000

export type SignsOfLife = ReturnType<typeof openSignsOfLife>

type SignDeps = Pick<Deps, 'reads' | 'notifier' | 'replicaId' | 'now' | 'log'>

export function openSignsOfLife(deps: SignDeps) {
  const { notifier, now, log } = deps
  const heard = new Map<string, { untilMs: number; unsubscribe: () => void }>()
  let mustListen = false

  function forget(instance: string): void {
    heard.get(instance)?.unsubscribe()
    heard.delete(instance)
  }

  async function onSign(instance: string): Promise<void> {
    try {
      if (!(await takeSign(deps, instance))) forget(instance) // S1: it has ended, or another replica hears it
    } catch (error) {
      log.warn({ err: error, instance }, 'a sign of life could not be recorded')
    }
  }

  return {
    /** After each look of the monitor: listens for those that this replica has taken over and not heard since. */
    async follow(takenOver: number): Promise<void> {
      for (const [instance, { untilMs }] of heard) if (now() >= untilMs) forget(instance) // S2
      mustListen ||= takenOver > 0
      if (!mustListen) return
      for (const instance of await readUnheard(deps)) {
        if (heard.has(instance)) continue
        const unsubscribe = notifier.subscribe(aliveTopic(instance), () => void onSign(instance))
        heard.set(instance, { untilMs: now() + SIGNS_COUNT_FOR_MS, unsubscribe })
      }
      mustListen = false
    },
  }
}

async function readUnheard({ reads: { prisma }, replicaId }: SignDeps): Promise<string[]> {
  const rows = await prisma.$queryRaw<{ id: string }[]>`
    SELECT id FROM money.instances
     WHERE monitor = ${replicaId} AND ended_at IS NULL AND heartbeat_at < watched_from`
  return rows.map(({ id }) => id)
}

/** Whether it was this replica's to take (S1). */
async function takeSign({ reads: { prisma }, replicaId }: SignDeps, instance: string): Promise<boolean> {
  const taken = await prisma.$executeRaw`
    UPDATE money.instances SET watched_from = clock_timestamp()
     WHERE id = ${instance} AND monitor = ${replicaId} AND ended_at IS NULL`
  return taken > 0
}
