import { ApiRefusal, Unreachable } from './failures.ts'

const REPEATS = 2
const FIRST_WAIT_MS = 500
/** Whoever is told to wait for longer is told so, and does not come back earlier. */
const LONGEST_WAIT_MS = 60_000

/**
 * Tries something, and twice more where that is worth it: after what the service says, else after half a second and a second, a
 * little more or less by chance so that those who failed together don't come back together.
 * @param signal ends it, while it waits too, with its reason
 */
export async function repeat<T>(attempt: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  for (let repeats = 0; ; repeats++) {
    try {
      return await attempt()
    } catch (error) {
      const waitMs = repeats < REPEATS ? waitBefore(repeats, error) : null
      if (waitMs === null) throw error
      await wait(waitMs, signal)
    }
  }
}

/** null: not worth it. */
function waitBefore(repeats: number, error: unknown): number | null {
  const isKnown = error instanceof ApiRefusal || error instanceof Unreachable
  if (!isKnown || !error.again.worth) return null
  const { afterMs } = error.again
  const jitter = Math.random() / 4
  if (afterMs === null) return FIRST_WAIT_MS * 2 ** repeats * (1 - jitter)
  return afterMs > LONGEST_WAIT_MS ? null : afterMs + FIRST_WAIT_MS * jitter
}

/** Resolves after so many milliseconds. @param signal ends it with its reason */
export function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    function stop(): void {
      clearTimeout(timer)
      reject(signal!.reason as Error)
    }
    if (signal?.aborted) stop()
    else signal?.addEventListener('abort', stop, { once: true })
  })
}
