/** Numbers, of which the lowest is taken first: a binary heap. */
export interface LowestFirst {
  push(entry: number): void
  pop(): number | undefined
}

export function openLowestFirst(): LowestFirst {
  const entries: number[] = []

  function rise(place: number, entry: number): void {
    while (place > 0) {
      const parent = (place - 1) >> 1
      if (entries[parent]! <= entry) break
      entries[place] = entries[parent]!
      place = parent
    }
    entries[place] = entry
  }

  function sink(entry: number): void {
    let place = 0
    for (;;) {
      let child = 2 * place + 1
      if (child >= entries.length) break
      if (child + 1 < entries.length && entries[child + 1]! < entries[child]!) child++
      if (entries[child]! >= entry) break
      entries[place] = entries[child]!
      place = child
    }
    entries[place] = entry
  }

  return {
    push(entry) {
      entries.push(entry)
      rise(entries.length - 1, entry)
    },
    pop() {
      const last = entries.pop()
      if (last === undefined || entries.length === 0) return last
      const lowest = entries[0]!
      sink(last)
      return lowest
    },
  }
}
