// Memory that large requests share.
//   M1  All shares together are at most `maxBytes`.
//   M2  One party has at most half of it, but for a single share, which may be as large as all of it.
//   M3  Shares are given in the order in which they were asked for. Only who waits for their own party is passed over, so a large
//       share is not kept waiting by small ones.
//   M4  No one waits longer than `waitMs`.

export interface ByteBudget {
  /**
   * Waits for a share of this many bytes, and answers what gives it back; that is safe to repeat.
   * @throws what `whenFull` makes, the signal's reason, and RangeError for more than there will ever be
   */
  take(party: string, bytes: number, signal?: AbortSignal): Promise<() => void>
  taken(): number
}

export interface ByteBudgetOptions {
  maxBytes: number
  waitMs: number
  /** The error for who has waited in vain. */
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
