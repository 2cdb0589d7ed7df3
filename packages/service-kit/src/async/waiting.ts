import { setImmediate as othersGoFirst } from 'node:timers/promises'
import type { Logger } from '../process/logger.ts'

export interface Waiter {
  /** Ends the current wait; if there is none, the next wait ends at once. */
  wake(): void
  /**
   * Waits until woken, for at most `limitMs` (less than 2^31). One wait at a time. Several wakes since the last wait
   * count as one.
   */
  next(limitMs: number): Promise<'woken' | 'late'>
  /** Stops listening to the signals. */
  close(): void
}

/**
 * Waits repeatedly for something that may happen at any time, also between waits: no wake is lost.
 * @param signals the abort of each wakes once; one already aborted does so at the first wait
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

/** Work exceeded its time limit. Its eventual outcome is ignored. */
export class TimedOut extends Error {
  readonly limitMs: number

  constructor(limitMs: number) {
    super(`took longer than ${limitMs} ms`)
    this.limitMs = limitMs
  }
}

/**
 * Runs work and returns its result, whether it is a promise or not. The work is not stopped at the limit; only the wait
 * ends.
 * @param limitMs less than 2^31, the longest timer of Node
 * @throws TimedOut from the promise if `limitMs` end first; otherwise the error of the work
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
 * Waits until a promise has settled, for at most `limitMs` (less than 2^31). Returns whether it has. Never rejects, and
 * a later rejection of the promise is not unhandled.
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
  /** Infinity for no limit. */
  maxMs: number
}

/**
 * Returns the wait before the next attempt, in milliseconds: it doubles after each failure, up to `maxMs`.
 * @param failures number of failures in a row; 0 or less returns 0
 */
export function backOffMs(failures: number, { firstMs, maxMs }: BackOffLimits): number {
  return failures <= 0 ? 0 : Math.min(firstMs * 2 ** (failures - 1), maxMs)
}

/**
 * Returns the milliseconds until the next instant at which everyone polls at this interval, so that polls can be shared.
 * Always more than 0.
 */
export function untilNextLook(nowMs: number, everyMs: number): number {
  return everyMs - (nowMs % everyMs)
}

const TURN_MS = 5

/** Runs the steps of a long computation, and yields to other work every few milliseconds. */
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

interface RepeatedWork {
  /** Name in the log. */
  name: string
  everyMs: number
  /** Returns the amount of work done; runs again immediately while that is not 0. */
  work(): Promise<number>
}

const FIRST_MS = 10_000

/**
 * Runs work at an interval, never concurrently; first after ten seconds if the interval is longer, for a process that
 * often restarts. Failures are logged and retried. Returns a function that stops it.
 */
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

  next(Math.min(everyMs, FIRST_MS))
  return async () => {
    stopped = true
    clearTimeout(timer)
    await running
  }
}

/**
 * Returns a function that does its work at most once per period, such as a warning about each of many failures. What
 * comes sooner is dropped.
 * @param now monotonic milliseconds
 */
export function atMostEvery<Value>(
  everyMs: number,
  work: (value: Value) => void,
  now: () => number = () => performance.now(),
): (value: Value) => void {
  let doneMs = -Infinity
  return (value) => {
    if (now() - doneMs < everyMs) return
    doneMs = now()
    work(value)
  }
}
