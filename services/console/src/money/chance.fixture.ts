/** Pseudo-random numbers, the same for the same seed (mulberry32), so a history can be reproduced. */
export function openChance(seed: number) {
  let state = seed
  return {
    seed,
    /** Returns an integer from 0 to less than `limit`. */
    below(limit: number): number {
      state = (state + 0x6d2b79f5) | 0
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
      return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit)
    },
  }
}
