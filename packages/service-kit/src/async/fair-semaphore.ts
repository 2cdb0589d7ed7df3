import type { SemaphoreOptions } from './semaphore.ts'

export interface FairSemaphore {
  /**
   * Runs a job of a party when its turn comes. Parties with waiting jobs take turns. A party can be a
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

// A queue of weighted items from many parties.
//   Q1  Parties take turns. Each turn adds `turnWeight` to a party's credit; it spends the credit on the items that it
//       covers and keeps the rest for its next turn. So a party waits for one turn of each other party, regardless of
//       their backlogs.
//   Q2  A party may have as much waiting as is still free. So a lone party fills half of the queue, and new ones find
//       room.

interface FairQueue<T> {
  /** Whether a party may add this weight (Q2). */
  hasRoom(party: string, weight: number): boolean
  push(party: string, thing: T, weight: number): void
  /** The next item in turn, of the parties that may have one; the others keep their place. */
  take(mayHave?: (party: string) => boolean): T | undefined
  /** Takes out an item that still waits. */
  remove(party: string, thing: T): void
  /** Weight that waits. */
  weight(): number
}

interface Line<T> {
  things: { thing: T; weight: number }[]
  weight: number
  /** Weight that it may still spend (Q1). */
  credit: number
}

export function openFairQueue<T>({ maxWeight, turnWeight }: { maxWeight: number; turnWeight: number }): FairQueue<T> {
  const lines = new Map<string, Line<T>>() // in turn order
  let total = 0

  function hasLeft(party: string, line: Line<T>, weight: number): void {
    line.weight -= weight
    total -= weight
    if (line.things.length === 0) lines.delete(party)
  }

  return {
    hasRoom: (party, weight) => (lines.get(party)?.weight ?? 0) + weight <= maxWeight - total,
    push(party, thing, weight) {
      const line = lines.get(party) ?? { things: [], weight: 0, credit: turnWeight }
      lines.set(party, line)
      line.things.push({ thing, weight })
      line.weight += weight
      total += weight
    },
    take(mayHave = () => true) {
      // A line set again below comes behind all others, and is visited again.
      for (const [party, line] of lines) {
        if (!mayHave(party)) continue
        const { thing, weight } = line.things[0]!
        if (line.credit >= weight) {
          line.things.shift()
          line.credit -= weight
          hasLeft(party, line, weight)
          return thing
        }
        line.credit += turnWeight
        lines.delete(party)
        lines.set(party, line)
      }
      return undefined
    },
    remove(party, thing) {
      const line = lines.get(party)
      const place = line?.things.findIndex((item) => item.thing === thing) ?? -1
      if (line && place >= 0) hasLeft(party, line, line.things.splice(place, 1)[0]!.weight)
    },
    weight: () => total,
  }
}
