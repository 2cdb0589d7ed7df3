import type { Logger } from '@gateway/service-kit/process/logger'

interface RepeatedWork {
  /** Of the log. */
  name: string
  everyMs: number
  /** Answers how much it did; it continues concurrently as long as that is something. */
  work(): Promise<number>
}

/** Does something again and again, never twice at once. A failure is logged and tried again. Answers how to stop. */
export function repeat({ log }: { log: Logger }, { name, everyMs, work }: RepeatedWork): () => Promise<void> {
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()

  async function run(): Promise<number> {
    try {
      return await work()
    } catch (error) {
      log.warn({ err: error, job: name }, 'a job of the console failed; it tries again')
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
