import { openFairQueue } from './fair-queue.ts'
import type { SemaphoreOptions } from './semaphore.ts'

export interface FairSemaphore {
  /**
   * Runs a job of a party when its turn comes. Parties with waiting jobs take turns (fair-queue.ts). A party can be a
   * path, such as a kind of caller, an address and a user: kinds take turns, then the addresses of a kind, then the
   * users of an address.
   * @param rank a small number: jobs of a lower rank run first
   * @throws the error of the job; the error of `whenFull` if the party may have no further job waiting
   */
  run<T>(party: string | readonly string[], job: () => Promise<T>, rank?: number): Promise<T>
}

/** A semaphore that parties share: the backlog of one delays the others by one job at most. */
export function openFairSemaphore({ permits, maxWaiting, whenFull }: SemaphoreOptions): FairSemaphore {
  const ranks: FairTree<() => void>[] = []
  let running = 0

  return {
    async run(party, job, rank = 0) {
      if (running >= permits) {
        const path = typeof party === 'string' ? [party] : party
        while (ranks.length <= rank) ranks.push(openFairTree(maxWaiting))
        const waiting = ranks[rank]!
        if (!waiting.hasRoom(path)) throw whenFull()
        await new Promise<void>((resolve) => waiting.push(path, resolve)) // the finishing job passes its permit on
      } else running++
      try {
        return await job()
      } finally {
        const next = ranks.find((waiting) => !waiting.isEmpty())?.take()
        if (next) next()
        else running--
      }
    },
  }
}

interface FairTree<T> {
  hasRoom(path: readonly string[]): boolean
  push(path: readonly string[], thing: T): void
  take(): T | undefined
  isEmpty(): boolean
}

/** A fair queue whose lines are fair queues in turn. All paths have the same length. */
function openFairTree<T>(maxWaiting: number): FairTree<T> {
  const turns = openFairQueue<() => T | undefined>({ maxWeight: maxWaiting, turnWeight: 1 })
  const branches = new Map<string, FairTree<T>>()

  function takeFrom(party: string): T | undefined {
    const branch = branches.get(party)
    const thing = branch?.take()
    if (branch?.isEmpty()) branches.delete(party)
    return thing
  }

  return {
    hasRoom: ([party = '', ...rest]) => turns.hasRoom(party, 1) && (branches.get(party)?.hasRoom(rest) ?? true),
    push([party = '', ...rest], thing) {
      if (rest.length === 0) return turns.push(party, () => thing, 1)
      const branch = branches.get(party) ?? openFairTree<T>(maxWaiting)
      branches.set(party, branch)
      branch.push(rest, thing)
      turns.push(party, () => takeFrom(party), 1)
    },
    take: () => turns.take()?.(),
    isEmpty: () => turns.weight() === 0,
  }
}
