// One batch in flight: while it is under way the next one gathers, and goes when it returns. No timer, so that a lone one goes at once
// and a crowd shares a transaction.

export interface Gatherer<T> {
  add(one: T): void
  waiting(): number
  /** Resolves when nothing waits and nothing is under way. */
  drain(): Promise<void>
}

/** @param run must not reject */
export function openBatcher<T>({ most, run }: { most: number; run: (batch: T[]) => Promise<void> }): Gatherer<T> {
  const waiting: T[] = []
  const idle: (() => void)[] = []
  let busy = false

  function schedule(): void {
    if (busy) return
    busy = true
    queueMicrotask(() => void work())
  }

  async function work(): Promise<void> {
    while (waiting.length > 0) await run(waiting.splice(0, most))
    busy = false
    for (const resolve of idle.splice(0)) resolve()
  }

  return {
    add(one) {
      waiting.push(one)
      schedule()
    },
    waiting: () => waiting.length,
    drain: () => (busy ? new Promise((resolve) => idle.push(resolve)) : Promise.resolve()),
  }
}
