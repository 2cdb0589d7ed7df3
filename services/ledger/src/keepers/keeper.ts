import type { Logger } from '@gateway/process/logger'

export interface Keeper {
  stop(): Promise<void>
}

interface Needs {
  name: string
  everyMs: number
  work: () => Promise<void>
  log: Logger
}

/** Does a piece of work again and again, never twice at once. A failure is logged and tried again in its turn. */
export function startKeeper({ name, everyMs, work, log }: Needs): Keeper {
  let stopped = false
  let running: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined

  function next(): void {
    if (stopped) return
    timer = setTimeout(() => {
      running = work()
        .catch((error: unknown) => log.warn({ err: error, keeper: name }, 'a keeper failed; it tries again'))
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
