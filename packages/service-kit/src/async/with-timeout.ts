/** Work took longer than it was given. What it does in the end nobody hears. */
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
 * rejects, and the rejection of a promise that is late is no unhandled one.
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
