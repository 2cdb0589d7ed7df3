// What waits, of many parties.
//   Q1  They take turns: each gives one thing, then the next party is asked. However much one has waiting, another one waits for
//       one thing of each party only.
//   Q2  A party may have as much waiting as is free. So one alone fills half of the queue, and there is room for who comes new.

export interface FairQueue<T> {
  /** Whether a party may add so much (Q2). */
  hasRoom(party: string, weight: number): boolean
  push(party: string, thing: T, weight: number): void
  /** The next one in turn. */
  take(): T | undefined
  /** The weight of all that waits. */
  weight(): number
}

interface Line<T> {
  things: { thing: T; weight: number }[]
  weight: number
}

export function openFairQueue<T>(maxWeight: number): FairQueue<T> {
  const lines = new Map<string, Line<T>>() // in the order of turns
  let total = 0

  return {
    hasRoom: (party, weight) => (lines.get(party)?.weight ?? 0) + weight <= maxWeight - total,
    push(party, thing, weight) {
      const line = lines.get(party) ?? { things: [], weight: 0 }
      lines.set(party, line)
      line.things.push({ thing, weight })
      line.weight += weight
      total += weight
    },
    take() {
      for (const [party, line] of lines) {
        const { thing, weight } = line.things.shift()!
        line.weight -= weight
        total -= weight
        lines.delete(party)
        if (line.things.length > 0) lines.set(party, line) // behind all others (Q1)
        return thing
      }
      return undefined
    },
    weight: () => total,
  }
}
