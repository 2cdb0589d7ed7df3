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
  /** The next item in turn, of the parties that may have one; the others keep their place. */
  take(mayHave?: (party: string) => boolean): T | undefined
  /** Takes out an item that still waits. */
  remove(party: string, thing: T): void
  /** Weight that waits. */
  weight(): number
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

  function hasLeft(party: string, line: Line<T>, weight: number): void {
    line.weight -= weight
    total -= weight
    if (line.things.length === 0) lines.delete(party)
  }

  return {
    hasRoom: (party, weight) => (lines.get(party)?.weight ?? 0) + weight <= maxWeight - total,
    push(party, thing, weight) {
      const line = lines.get(party) ?? { things: [], weight: 0, credit: turnWeight }
      lines.set(party, line)
      line.things.push({ thing, weight })
      line.weight += weight
      total += weight
    },
    take(mayHave = () => true) {
      // A line set again below comes behind all others, and is visited again.
      for (const [party, line] of lines) {
        if (!mayHave(party)) continue
        const { thing, weight } = line.things[0]!
        if (line.credit >= weight) {
          line.things.shift()
          line.credit -= weight
          hasLeft(party, line, weight)
          return thing
        }
        line.credit += turnWeight
        lines.delete(party)
        lines.set(party, line)
      }
      return undefined
    },
    remove(party, thing) {
      const line = lines.get(party)
      const place = line?.things.findIndex((item) => item.thing === thing) ?? -1
      if (line && place >= 0) hasLeft(party, line, line.things.splice(place, 1)[0]!.weight)
    },
    weight: () => total,
  }
}
