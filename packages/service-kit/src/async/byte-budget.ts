// Memory that large requests share.
//   M1  All shares together are at most `maxBytes`.
//   M2  One party has at most half of it, except for a single share, which may be as large as the whole.
//   M3  Shares are given in order of request. Only a request that waits for other shares of its party is passed, so
//       small shares don't keep a large one waiting.
//   M4  No request waits longer than `waitMs`.

export interface ByteBudget {
  /** The whole budget. */
  maxBytes: number
  /**
   * Waits for a share of this many bytes, and returns the function that releases it; releasing twice is safe.
   * @throws the error of `whenFull`, the signal's reason, and RangeError for more than the whole budget
   */
  take(party: string, bytes: number, signal?: AbortSignal): Promise<() => void>
  taken(): number
}

export interface ByteBudgetOptions {
  maxBytes: number
  waitMs: number
  /** The error of a request that waited in vain. */
  whenFull: () => Error
}

interface Waiter {
  party: string
  bytes: number
  give: () => void
}

export function openByteBudget({ maxBytes, waitMs, whenFull }: ByteBudgetOptions): ByteBudget {
  const taken = new Map<string, number>()
  const waiters = new Set<Waiter>()
  let all = 0

  const takenBy = (party: string) => taken.get(party) ?? 0
  const mayHave = ({ party, bytes }: Waiter) => takenBy(party) === 0 || takenBy(party) + bytes <= maxBytes / 2 // M2

  function add(party: string, bytes: number): void {
    all += bytes
    const sum = takenBy(party) + bytes
    if (sum === 0) taken.delete(party)
    else taken.set(party, sum)
  }

  function giveToWaiters(): void {
    for (const waiter of waiters) {
      if (!mayHave(waiter)) continue // M3
      if (all + waiter.bytes > maxBytes) return
      waiters.delete(waiter)
      add(waiter.party, waiter.bytes)
      waiter.give()
    }
  }

  function shareOf({ party, bytes }: Waiter): () => void {
    let given = true
    return () => {
      if (!given) return
      given = false
      add(party, -bytes)
      giveToWaiters()
    }
  }

  return {
    maxBytes,
    take(party, bytes, signal) {
      if (bytes > maxBytes) throw new RangeError(`${bytes} bytes are more than the ${maxBytes} of the budget`)
      return new Promise((resolve, reject) => {
        const waiter: Waiter = { party, bytes, give: () => leave(() => resolve(shareOf(waiter))) }
        const aborted = () => leave(() => reject(signal!.reason as Error))
        const timer = setTimeout(() => leave(() => reject(whenFull())), waitMs) // M4

        function leave(answer: () => void): void {
          const waited = waiters.delete(waiter)
          clearTimeout(timer)
          signal?.removeEventListener('abort', aborted)
          answer()
          if (waited) giveToWaiters() // a later waiter may fit
        }
        if (signal?.aborted) return aborted()
        signal?.addEventListener('abort', aborted)
        waiters.add(waiter)
        giveToWaiters()
      })
    },
    taken: () => all,
  }
}
