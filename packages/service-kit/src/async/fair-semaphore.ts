import { openFairQueue } from './fair-queue.ts'
import type { SemaphoreOptions } from './semaphore.ts'

export interface FairSemaphore {
  /**
   * Runs a job of a party when its turn comes. Parties with waiting jobs take turns (fair-queue.ts).
   * @throws the error of the job; the error of `whenFull` if the party may have no further job waiting
   */
  run<T>(party: string, job: () => Promise<T>): Promise<T>
}

/** A semaphore that parties share: the backlog of one delays the others by one job at most. */
export function openFairSemaphore({ permits, maxWaiting, whenFull }: SemaphoreOptions): FairSemaphore {
  const waiting = openFairQueue<() => void>({ maxWeight: maxWaiting, turnWeight: 1 })
  let running = 0

  return {
    async run(party, job) {
      if (running >= permits) {
        if (!waiting.hasRoom(party, 1)) throw whenFull()
        await new Promise<void>((resolve) => waiting.push(party, resolve, 1)) // the finishing job passes its permit on
      } else running++
      try {
        return await job()
      } finally {
        const next = waiting.take()
        if (next) next()
        else running--
      }
    },
  }
}
