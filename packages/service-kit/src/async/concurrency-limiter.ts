// Limit on concurrent work, shared between parties such as projects or users.
//   P1  At most `maxPermits` in total. One party can hold at most SHARE times the free permits, so the busier the
//       process, the fewer a party can hold. A busy party always leaves a permit for a party that holds none, and
//       parties that together want more than there are converge to equal shares.
//   P2  A permit is held until the work is done and the response is sent, even if the caller has disconnected.

export interface ConcurrencyLimiter {
  /**
   * @param maxOfParty of this party, instead of the maximum of all
   * @throws the error of `whenFull`
   */
  acquire(party: string, maxOfParty?: number): Permit
  /** Number of permits held. */
  count(): number
}

export interface Permit {
  /** Calls `giveBack` on release; immediately if already released. */
  onRelease(giveBack: () => void): void
  /** Idempotent. */
  release(): void
}

interface Options {
  maxPermits: number
  /** Maximum per party, regardless of load. */
  maxOfParty?: number | undefined
  /** The error for a party without a permit. `hasMaximum`: it holds `maxOfParty`, regardless of load. */
  whenFull: (hasMaximum: boolean, maxOfParty: number) => Error
}

const SHARE = 4

export function openConcurrencyLimiter({
  maxPermits,
  maxOfParty: usual = maxPermits,
  whenFull,
}: Options): ConcurrencyLimiter {
  const acquired = new Map<string, number>() // by party
  let total = 0

  function add(party: string, permits: 1 | -1): void {
    total += permits
    const sum = (acquired.get(party) ?? 0) + permits
    if (sum === 0) acquired.delete(party)
    else acquired.set(party, sum)
  }

  return {
    acquire(party, maxOfParty = usual) {
      const held = acquired.get(party) ?? 0
      if (held >= Math.min(maxOfParty, SHARE * (maxPermits - total))) throw whenFull(held >= maxOfParty, maxOfParty) // P1
      add(party, 1)
      let released = false
      const givesBack: (() => void)[] = []
      return {
        onRelease(giveBack) {
          if (released) giveBack()
          else givesBack.push(giveBack)
        },
        release() {
          if (released) return
          released = true
          for (const giveBack of givesBack) giveBack()
          add(party, -1)
        },
      }
    },
    count: () => total,
  }
}
