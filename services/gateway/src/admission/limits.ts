import type { ServerResponse } from 'node:http'
import { refuse } from '@gateway/contracts/refusal'
import { LRUCache } from 'lru-cache'

// How many requests may be under way at once.
//   P1  At most `maxPermits`. One project has at most SHARE times the permits that are free, so it may have fewer the
//       busier the process is. However many a busy project has, a permit is left for a project that comes new, and
//       projects that want more than there is get equal parts.
//   P2  The project of a key is known once the ledger has named it. Until then the key is unidentified and counts for
//       itself. All unidentified keys together have the part of one project, and one of them at most half of what is
//       left of that part, so that keys which no project has can't fill the process.
//   P3  A permit is kept until the work is done and the answer is taken, also when its caller has disconnected.

export interface ConcurrencyLimiter {
  /** @throws Refusal `overloaded` */
  acquire(keyHash: string): Permit
  count(): number
}

export interface Permit {
  /**
   * From now on it counts for this project, and so does every later permit of the same key, whose project never
   * changes.
   */
  attributeTo(project: string): void
  /** Gives something back when it is released; at once if it was. */
  onRelease(giveBack: () => void): void
  /** Safe to repeat. */
  release(): void
}

interface Options {
  maxPermits: number
  /** Of one project, however free the process is. */
  maxOfProject?: number | undefined
}

const SHARE = 4
const KEYS_REMEMBERED = 50_000

export function openConcurrencyLimiter({ maxPermits, maxOfProject = maxPermits }: Options): ConcurrencyLimiter {
  const projects = new LRUCache<string, string>({ max: KEYS_REMEMBERED }) // by key
  const acquired = new Map<string, number>() // by project, or by key where it is unidentified
  let total = 0
  let unidentified = 0

  const acquiredBy = (party: string) => acquired.get(party) ?? 0

  function add(party: string, permits: 1 | -1): void {
    const sum = acquiredBy(party) + permits
    if (sum === 0) acquired.delete(party)
    else acquired.set(party, sum)
  }

  function hasRoom(keyHash: string, project: string | undefined): boolean {
    const part = Math.min(maxOfProject, SHARE * (maxPermits - total)) // P1
    return project === undefined ? acquiredBy(keyHash) < part - unidentified : acquiredBy(project) < part // P2
  }

  return {
    acquire(keyHash) {
      let project = projects.get(keyHash)
      if (!hasRoom(keyHash, project)) throw refuse('overloaded', {})
      total++
      add(project ?? keyHash, 1)
      if (project === undefined) unidentified++
      let released = false
      const givesBack: (() => void)[] = []

      return {
        attributeTo(named) {
          projects.set(keyHash, named)
          if (released || project !== undefined) return
          project = named
          unidentified--
          add(keyHash, -1)
          add(named, 1)
        },
        onRelease(giveBack) {
          if (released) giveBack()
          else givesBack.push(giveBack)
        },
        release() {
          if (released) return
          released = true
          for (const giveBack of givesBack) giveBack()
          total--
          add(project ?? keyHash, -1)
          if (project === undefined) unidentified--
        },
      }
    },
    count: () => total,
  }
}

/**
 * Does the work of a request while it has a permit. A request without one is refused before anything of its body is
 * read; a request with one keeps it until the work is done and the answer is taken, or its caller has disconnected
 * (rules §3.8).
 * @throws Refusal `overloaded`
 */
export async function withPermit(
  limiter: Pick<ConcurrencyLimiter, 'acquire'>,
  res: ServerResponse,
  keyHash: string,
  work: (permit: Permit) => Promise<void>,
): Promise<void> {
  const permit = limiter.acquire(keyHash)
  let reasonsToKeep = 2
  const done = () => {
    if (--reasonsToKeep === 0) permit.release()
  }
  res.once('close', done)
  try {
    await work(permit)
  } finally {
    done()
  }
}

/**
 * Asks the ledger while the asking key has a permit; the answer is small, so it is not waited for until it is taken.
 * @throws Refusal `overloaded`
 */
export async function askWithPermit<Answer>(
  limiter: Pick<ConcurrencyLimiter, 'acquire'>,
  keyHash: string,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  const permit = limiter.acquire(keyHash)
  try {
    return await ask()
  } finally {
    permit.release()
  }
}

// Calls that wait for the ledger's decision. They wait for processors and disks, not for a model, so a long queue helps
// nobody: all calls in it are late, and the next one will be later. When `maxWaiting` calls wait, the next one is
// refused.

export interface AdmissionQueueLimit {
  /**
   * @throws Refusal `overloaded` where the queue is full: checked before a call is read, and again before the ledger is
   * asked
   */
  refuseIfFull(): void
  /** Counts work that waits. */
  during<T>(work: () => Promise<T>): Promise<T>
}

export function openAdmissionQueueLimit(maxWaiting: number): AdmissionQueueLimit {
  let waiting = 0
  return {
    refuseIfFull() {
      if (waiting >= maxWaiting) throw refuse('overloaded', {})
    },
    async during(work) {
      waiting++
      try {
        return await work()
      } finally {
        waiting--
      }
    },
  }
}
