export interface Waiter {
  /** Ends the wait under way; where nobody waits, it ends the next wait at once. */
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
 * Waits again and again for something that may come at any moment, also while nobody waits: no wake is lost.
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
