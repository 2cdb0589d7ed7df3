import { withTimeout } from '../async/with-timeout.ts'
import type { Logger } from './logger.ts'

// A service starts in order and stops in reverse.
//   L1  What was started last is stopped first, one at a time.
//   L2  No stop holds up the others for longer than its limit, whether it hangs or fails.
//   L3  Stopping happens once; whatever is registered after it began is stopped without being used.

/** What it answers is ignored; a promise is waited for. */
export type Stop = () => unknown

export interface Lifecycle {
  /** Registers how to stop what has just been started. `limitMs` is what the others wait for it at most. */
  onStop(name: string, stop: Stop, limits?: { limitMs?: number }): void
  /** Aborts when stopping begins. */
  readonly stopping: AbortSignal
  /** Stops everything and answers whether each part stopped cleanly and in time. Later calls answer the same promise. */
  stop(reason: string): Promise<boolean>
}

interface Deps {
  log: Pick<Logger, 'info' | 'error'>
  /** For parts that name no limit of their own. */
  defaultLimitMs?: number
}

interface Part {
  name: string
  stop: Stop
  limitMs: number
}

export function createLifecycle({ log, defaultLimitMs = 10_000 }: Deps): Lifecycle {
  const started: Part[] = []
  const aborter = new AbortController()
  let stopped: Promise<boolean> | undefined
  let finished = false

  async function stopOne({ name, stop, limitMs }: Part): Promise<boolean> {
    try {
      await withTimeout<unknown>(limitMs, stop)
      return true
    } catch (error) {
      log.error({ err: error, part: name }, `${name} did not stop cleanly`)
      return false // L2
    }
  }

  async function stopStarted(): Promise<boolean> {
    let clean = true
    finished = false
    for (let part = started.pop(); part; part = started.pop()) clean = (await stopOne(part)) && clean // L1, L3
    finished = true
    return clean
  }

  return {
    onStop(name, stop, { limitMs = defaultLimitMs } = {}) {
      started.push({ name, stop, limitMs })
      if (finished) stopped = stopStarted() // L3
    },
    stopping: aborter.signal,
    stop(reason) {
      if (!aborter.signal.aborted) {
        log.info({ reason }, 'stopping')
        aborter.abort(new Error(`stopping: ${reason}`))
      }
      return (stopped ??= stopStarted())
    },
  }
}
