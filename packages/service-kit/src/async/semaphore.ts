export interface Semaphore {
  /**
   * Runs a job when its turn has come; jobs begin in the order in which they came.
   * @throws what the job throws; what `whenFull` makes where as many wait as may
   */
  run<T>(job: () => Promise<T>): Promise<T>
}

export interface SemaphoreOptions {
  /** Jobs at once. */
  permits: number
  /** Jobs that may wait for a permit; Infinity where nothing bounds them. */
  maxWaiting: number
  /** The error for a job that comes when `maxWaiting` wait. */
  whenFull: () => Error
}

/** Runs costly jobs a few at once, so that a crowd of them leaves threads, connections or memory to others. */
export function openSemaphore({ permits, maxWaiting, whenFull }: SemaphoreOptions): Semaphore {
  const waiting: (() => void)[] = []
  let running = 0

  return {
    async run(job) {
      if (running >= permits) {
        if (waiting.length >= maxWaiting) throw whenFull()
        await new Promise<void>((resolve) => waiting.push(resolve)) // the finishing task hands its permit on
      } else running++
      try {
        return await job()
      } finally {
        const next = waiting.shift()
        if (next) next()
        else running--
      }
    },
  }
}
