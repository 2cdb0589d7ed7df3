import { openFairQueue } from '@gateway/service-kit/async/fair-semaphore'

// The connections of one provider, shared by projects. A call holds one from when it is sent until its exchange ends.
//   F1  A project holds at most SHARE times the connections that would still be free, so one project never takes the
//       last ones, and a project that holds none gets the next.
//   F2  While another project holds one, a project gets no more than half of them.
//   F3  Calls wait in a fair queue: projects take turns, the calls of one project keep their order, and a project may
//       have as many waiting as still have room.
//   F4  A call waits for at most `limitMs`. One whose signal aborts leaves at once.

/** `full`: too many calls wait already. `late`: it waited too long. */
export type NoConnection = 'full' | 'late'

export interface FairConnections {
  /**
   * Waits for a connection and returns the function that gives it back; giving it back twice is safe.
   * @param signals each ends the wait; not the call that follows
   * @throws the error of `refused`, or the reason of a signal
   */
  take(project: string, limitMs: number, signals: readonly AbortSignal[]): Promise<() => void>
  /** Connections in use. */
  used(): number
  /** Calls that wait. */
  waiting(): number
}

interface Options {
  connections: number
  maxWaiting: number
  refused: (why: NoConnection) => Error
}

const SHARE = 4

export function openFairConnections({ connections, maxWaiting, refused }: Options): FairConnections {
  const held = new Map<string, number>() // by project
  const queue = openFairQueue<() => void>({ maxWeight: maxWaiting, turnWeight: 1 })
  let used = 0

  function mayHave(project: string): boolean {
    const free = connections - used
    const own = held.get(project) ?? 0
    if (own === 0) return free > 0
    return own < SHARE * (free - 1) && (own + 1 <= connections / 2 || held.size === 1) // F1, F2
  }

  function add(project: string, connections: 1 | -1): void {
    used += connections
    const own = (held.get(project) ?? 0) + connections
    if (own === 0) held.delete(project)
    else held.set(project, own)
  }

  function hold(project: string): () => void {
    let holds = true
    add(project, 1)
    return () => {
      if (!holds) return
      holds = false
      add(project, -1)
      for (let next = queue.take(mayHave); next; next = queue.take(mayHave)) next()
    }
  }

  function wait(project: string, limitMs: number, signals: readonly AbortSignal[]): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const serve = (): void => {
        stopWaiting()
        resolve(hold(project))
      }
      const leave = (reason: unknown): void => {
        stopWaiting()
        queue.remove(project, serve)
        reject(reason)
      }
      const onAbort = (): void => leave(signals.find(({ aborted }) => aborted)?.reason)
      const timer = setTimeout(() => leave(refused('late')), limitMs)
      function stopWaiting(): void {
        clearTimeout(timer)
        for (const signal of signals) signal.removeEventListener('abort', onAbort)
      }
      for (const signal of signals) signal.addEventListener('abort', onAbort)
      queue.push(project, serve, 1)
    })
  }

  return {
    async take(project, limitMs, signals) {
      if (mayHave(project)) return hold(project) // no one who may have it waits
      for (const signal of signals) signal.throwIfAborted()
      if (!queue.hasRoom(project, 1)) throw refused('full')
      return wait(project, limitMs, signals)
    },
    used: () => used,
    waiting: () => queue.weight(),
  }
}
