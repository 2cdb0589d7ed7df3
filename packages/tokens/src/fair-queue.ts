// What waits, of many parties, each thing with its weight.
//   Q1  Parties take turns. In its turn each gets `turnWeight` more to give with, gives what that is enough for, and keeps the
//       rest for its next turn. So a party waits, no matter how much others have waiting, for one turn of
//       each.
//   Q2  A party may have as much waiting as is free. So one alone fills half of the queue, and there is room for who comes new.

export interface FairQueue<T> {
  /** Whether a party may add so much (Q2). */
  hasRoom(party: string, weight: number): boolean
  push(party: string, thing: T, weight: number): void
  /** The next one in turn. */
  take(): T | undefined
}

interface Line<T> {
  things: { thing: T; weight: number }[]
  weight: number
  /** What it may give yet (Q1). */
  credit: number
}

export function openFairQueue<T>({ maxWeight, turnWeight }: { maxWeight: number; turnWeight: number }): FairQueue<T> {
  const lines = new Map<string, Line<T>>() // in the order of turns
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
