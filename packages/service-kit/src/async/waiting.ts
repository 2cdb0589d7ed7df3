import { setImmediate as othersGoFirst } from 'node:timers/promises'

export interface Waiter {
  /** Ends the wait under way; where no one waits, it ends the next wait at once. */
  wake(): void
  /**
   * Waits until it is woken, but not longer than `limitMs` (less than 2^31). One wait at a time. Several wakes since the last
   * wait count as one.
   */
  next(limitMs: number): Promise<'woken' | 'late'>
  /** The signals no longer wake it. */
  close(): void
}

/**
 * Waits again and again for something that may come at any moment, also while no one waits: no wake is lost.
 * @param signals the abort of each wakes once; one that is aborted already does so at the first wait
 */
export function openWaiter(signals: readonly AbortSignal[] = []): Waiter {
  let woken = signals.some(({ aborted }) => aborted)
  let end: (() => void) | null = null

  function wake(): void {
    woken = true
    end?.()
  }
  for (const signal of signals) signal.addEventListener('abort', wake)

  return {
    wake,
    async next(limitMs) {
      if (!woken) {
        const waiting = Promise.withResolvers<void>()
        const timer = setTimeout(waiting.resolve, limitMs)
        end = waiting.resolve
        await waiting.promise
        end = null
        clearTimeout(timer)
      }
      const how = woken ? 'woken' : 'late'
      woken = false
      return how
    },
    close() {
      for (const signal of signals) signal.removeEventListener('abort', wake)
    },
  }
}

/** Work took longer than it was given. What it does in the end no one hears. */
export class TimedOut extends Error {
  readonly limitMs: number

  constructor(limitMs: number) {
    super(`took longer than ${limitMs} ms`)
    this.limitMs = limitMs
  }
}

/**
 * Runs work and answers what it answers, a promise or not. The work is not stopped when the time is over; only the waiting ends.
 * @param limitMs less than 2^31, the longest that a timer of Node runs
 * @throws TimedOut from the promise when `limitMs` end first; otherwise what the work throws
 */
export async function withTimeout<T>(limitMs: number, work: () => T | PromiseLike<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new TimedOut(limitMs)), limitMs)
  try {
    return await Promise.race([work(), late.promise])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Waits until a promise has resolved or rejected, but not longer than `limitMs` (less than 2^31). Answers whether it has. Never
 * rejects, and the rejection of a promise that is late is not an unhandled one.
 */
export async function settlesWithin(limitMs: number, promise: Promise<unknown>): Promise<boolean> {
  const late = Promise.withResolvers<false>()
  const timer = setTimeout(() => late.resolve(false), limitMs)
  const settled = promise.then(
    () => true,
    () => true,
  )
  const inTime = await Promise.race([settled, late.promise])
  clearTimeout(timer)
  return inTime
}

export interface BackOffLimits {
  firstMs: number
  /** Infinity where nothing bounds it. */
  maxMs: number
}

/**
 * How long to wait before the next try, in milliseconds: twice as long after each failure, up to `maxMs`.
 * @param failures how often it has failed in a row; without a failure there is nothing to wait for, so 0 and less answer 0
 */
export function backOffMs(failures: number, { firstMs, maxMs }: BackOffLimits): number {
  return failures <= 0 ? 0 : Math.min(firstMs * 2 ** (failures - 1), maxMs)
}

const TURN_MS = 5

/** Takes the steps of a long computation, and yields to other work every few milliseconds. */
export async function inTurns<Result>(steps: Generator<void, Result>): Promise<Result> {
  let untilMs = performance.now() + TURN_MS
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    if (performance.now() < untilMs) continue
    await othersGoFirst()
    untilMs = performance.now() + TURN_MS
  }
}
