// A queue of weighted items from many parties.
//   Q1  Parties take turns. Each turn adds `turnWeight` to a party's credit; it spends the credit on the items that it
//       covers and keeps the rest for its next turn. So a party waits for one turn of each other party, regardless of
//       their backlogs.
//   Q2  A party may have as much waiting as is still free. So a lone party fills half of the queue, and new ones find
//       room.

export interface FairQueue<T> {
  /** Whether a party may add this weight (Q2). */
  hasRoom(party: string, weight: number): boolean
  push(party: string, thing: T, weight: number): void
  /** The next item in turn. */
  take(): T | undefined
}

interface Line<T> {
  things: { thing: T; weight: number }[]
  weight: number
  /** Weight that it may still spend (Q1). */
  credit: number
}

export function openFairQueue<T>({ maxWeight, turnWeight }: { maxWeight: number; turnWeight: number }): FairQueue<T> {
  const lines = new Map<string, Line<T>>() // in turn order
  let total = 0

  return {
    hasRoom: (party, weight) => (lines.get(party)?.weight ?? 0) + weight <= maxWeight - total,
    push(party, thing, weight) {
      const line = lines.get(party) ?? { things: [], weight: 0, credit: turnWeight }
      lines.set(party, line)
      line.things.push({ thing, weight })
      line.weight += weight
      total += weight
    },
    take() {
      for (;;) {
        const [first] = lines
        if (!first) return undefined
        const [party, line] = first
        const { thing, weight } = line.things[0]!
        if (line.credit >= weight) {
          line.things.shift()
          line.credit -= weight
          line.weight -= weight
          total -= weight
          if (line.things.length === 0) lines.delete(party)
          return thing
        }
        line.credit += turnWeight
        lines.delete(party)
        lines.set(party, line) // behind all others
      }
    },
  }
}
