import { openLowestFirst } from './lowest-first.ts'
import { openPairRanks, type Ranks } from './pair-ranks.ts'

// How many tokens the merging of byte pairs leaves of one word.
//   W1  Of all neighbours that are a token together, those of the lowest rank are merged, the leftmost of them first.
//   W2  Neighbours are kept in a heap by rank and place, so a word of n bytes takes n log n steps. Going through all neighbours
//       for each merge takes n squared, and a caller can send a word of 128,000 bytes.
//   W3  An entry of the heap whose neighbours have changed since is passed over: the rank beside it is another one by now.

/** Places in the heap's numbers; a rank and a place together stay exact. */
const PLACES = 2 ** 26
const NONE = -1

/** Answers how many tokens the bytes of a word are, which is no token itself. */
export function openMerger(ranks: Ranks): (bytes: string) => number {
  const pairRanks = openPairRanks(ranks)
  const heap = openLowestFirst()
  // Each part of the word is known by where it begins.
  let places = placesFor(64)

  /** Looks up what a part and the next one are together. */
  function look(bytes: string, start: number): void {
    const { token, next, pair } = places
    const middle = next[start]!
    const rank =
      middle >= bytes.length ? NONE : pairRanks.rankOf(token[start]!, token[middle]!, bytes, start, next[middle]!)
    pair[start] = rank
    if (rank !== NONE) heap.push(rank * PLACES + start)
  }

  return (bytes) => {
    if (places.next.length <= bytes.length) places = placesFor(2 * bytes.length)
    const { token, next, before, pair } = places
    for (let start = 0; start <= bytes.length; start++) {
      token[start] = pairRanks.tokenOfByte(bytes.charCodeAt(start))
      next[start] = start + 1
      before[start] = start - 1
    }
    for (let start = 0; start < bytes.length; start++) look(bytes, start)

    let parts = bytes.length
    for (let entry = heap.pop(); entry !== undefined; entry = heap.pop()) {
      const start = entry % PLACES
      const rank = (entry - start) / PLACES
      if (pair[start] !== rank) continue // W3
      const merged = next[start]!
      const end = next[merged]!
      token[start] = rank
      next[start] = end
      before[end] = start
      pair[merged] = NONE
      parts--
      look(bytes, start)
      if (start > 0) look(bytes, before[start]!)
    }
    return parts
  }
}

function placesFor(bytes: number) {
  const size = bytes + 1
  return {
    /** The rank of the token that the part is. */
    token: new Int32Array(size),
    next: new Int32Array(size),
    before: new Int32Array(size),
    /** The rank of the part and the next one together; NONE: they are no token. */
    pair: new Int32Array(size),
  }
}
