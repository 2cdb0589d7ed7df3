import type { Logger } from '../process/logger.ts'

interface RepeatedWork {
  /** Name in the log. */
  name: string
  everyMs: number
  /** Returns the amount of work done; runs again immediately while that is not 0. */
  work(): Promise<number>
}

/** Runs work at an interval, never concurrently. Failures are logged and retried. Returns a function that stops it. */
export function repeat(
  { log }: { log: Pick<Logger, 'warn'> },
  { name, everyMs, work }: RepeatedWork,
): () => Promise<void> {
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()

  async function run(): Promise<number> {
    try {
      return await work()
    } catch (error) {
      log.warn({ err: error, job: name }, 'repeated job failed, will retry')
      return 0
    }
  }

  function next(afterMs: number): void {
    if (stopped) return
    timer = setTimeout(() => {
      running = run().then((done) => next(done > 0 ? 0 : everyMs))
    }, afterMs)
    timer.unref()
  }

  next(everyMs)
  return async () => {
    stopped = true
    clearTimeout(timer)
    await running
  }
}
