import type { Logger } from '@gateway/process/logger'

export interface MaintenanceJob {
  stop(): Promise<void>
}

interface Deps {
  name: string
  everyMs: number
  work: () => Promise<void>
  log: Logger
}

/** Does a piece of work again and again, never twice at once. A failure is logged and tried again in its turn. */
export function startMaintenanceJob({ name, everyMs, work, log }: Deps): MaintenanceJob {
  let stopped = false
  let running: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined

  function next(): void {
    if (stopped) return
    timer = setTimeout(() => {
      running = work()
        .catch((error: unknown) => log.warn({ err: error, job: name }, 'a maintenance job failed; it tries again'))
        .then(next)
    }, everyMs)
    timer.unref()
  }
  next()
  return {
    stop: async () => {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}
