export interface Semaphore {
  /**
   * Runs a job when its turn comes; jobs start in order of arrival.
   * @throws the error of the job; the error of `whenFull` if the maximum already waits
   */
  run<T>(job: () => Promise<T>): Promise<T>
}

export interface SemaphoreOptions {
  /** Maximum number of concurrent jobs. */
  permits: number
  /** Maximum number of jobs that wait for a permit; Infinity for no limit. */
  maxWaiting: number
  /** The error for a job that arrives while `maxWaiting` wait. */
  whenFull: () => Error
}

/**
 * Limits the concurrency of expensive jobs, so that a burst of them leaves threads, connections or memory to others.
 */
export function openSemaphore({ permits, maxWaiting, whenFull }: SemaphoreOptions): Semaphore {
  const waiting: (() => void)[] = []
  let running = 0

  return {
    async run(job) {
      if (running >= permits) {
        if (waiting.length >= maxWaiting) throw whenFull()
        await new Promise<void>((resolve) => waiting.push(resolve)) // the finishing job passes its permit on
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
