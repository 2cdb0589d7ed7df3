import { refuse } from '@gateway/contracts/refusal'

// Who may be in the stack at once.
//   P1  At most `most`. Of one project fewer the fuller the stack is: as many as SHARE times the places that are free. However
//       many a busy project has taken, a place is left for whoever comes new, and projects that want more share alike.
//   P2  The project of a key is known once the ledger has named it. Until then the key stands for itself; all such keys
//       together have one project's part, and one of them at most half of what is left of that, so that keys of nobody's
//       can't fill the stack.
//   P3  A place is kept until the work is done and the answer is taken, also when its caller has gone.

export interface ConcurrencyLimiter {
  /** @throws Refusal `overloaded` */
  take(keyHash: string): Place
  count(): number
}

export interface Place {
  /** From now on it counts for this project, and so does every later one of the same key, whose project never changes. */
  countsFor(project: string): void
  /** Safe to repeat. */
  leave(): void
}

interface Options {
  most: number
  /** Of one project, however empty the stack is. */
  mostOfOne?: number | undefined
}

const SHARE = 4
const KEYS_REMEMBERED = 50_000

export function openConcurrencyLimiter({ most, mostOfOne = most }: Options): ConcurrencyLimiter {
  const projectOf = new Map<string, string>()
  const taken = new Map<string, number>() // by project, and by key where the project isn't known
  let all = 0
  let strangers = 0

  const takenBy = (party: string) => taken.get(party) ?? 0

  function add(party: string, places: 1 | -1): void {
    const now = takenBy(party) + places
    if (now === 0) taken.delete(party)
    else taken.set(party, now)
  }

  function hasRoom(keyHash: string, project: string | undefined): boolean {
    const part = Math.min(mostOfOne, SHARE * (most - all)) // P1
    return project === undefined ? takenBy(keyHash) < part - strangers : takenBy(project) < part // P2
  }

  return {
    take(keyHash) {
      let project = projectOf.get(keyHash)
      if (!hasRoom(keyHash, project)) throw refuse('overloaded', {})
      all++
      add(project ?? keyHash, 1)
      if (project === undefined) strangers++
      let left = false

      return {
        countsFor(named) {
          if (projectOf.size >= KEYS_REMEMBERED) projectOf.clear()
          projectOf.set(keyHash, named)
          if (left || project !== undefined) return
          project = named
          strangers--
          add(keyHash, -1)
          add(named, 1)
        },
        leave() {
          if (left) return
          left = true
          all--
          add(project ?? keyHash, -1)
          if (project === undefined) strangers--
        },
      }
    },
    count: () => all,
  }
}
