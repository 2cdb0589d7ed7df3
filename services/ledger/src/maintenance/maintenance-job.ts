import type { Logger } from '@gateway/service-kit/process/logger'

export interface MaintenanceJob {
  name: string
  everyMs: number
  /** The first turn comes at once, instead of after `everyMs`. */
  atOnce?: boolean
  /** Answers what it has done, counted by name; nothing is logged where all of it is 0. */
  runOnce(): Promise<Record<string, number>>
}

/**
 * Runs a job again and again, never twice at once. A failure is logged, and the job tries again in its turn. Answers
 * how to stop.
 */
export function repeatJob({ log }: { log: Logger }, job: MaintenanceJob): () => Promise<void> {
  const { name, everyMs, atOnce = false, runOnce } = job
  let stopped = false
  let running: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined

  async function run(): Promise<void> {
    try {
      const counts = await runOnce()
      if (Object.values(counts).some((count) => count > 0)) log.info({ job: name, ...counts }, 'maintenance')
    } catch (error) {
      log.warn({ err: error, job: name }, 'a maintenance job failed; it tries again')
    }
  }

  function next(afterMs: number): void {
    if (stopped) return
    timer = setTimeout(() => {
      running = run().then(() => next(everyMs))
    }, afterMs)
    timer.unref()
  }

  next(atOnce ? 0 : everyMs)
  return async () => {
    stopped = true
    clearTimeout(timer)
    await running
  }
}
