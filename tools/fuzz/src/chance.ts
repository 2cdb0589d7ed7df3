/** Pseudorandom choices, the same for the same seed. */
export interface Chance {
  /** An integer from 0 to `limit` - 1. */
  below(limit: number): number
  /** True in this share of cases; 0 to 1. */
  hits(share: number): boolean
  pick<T>(from: readonly T[]): T
  /** Lowercase letters and digits. */
  text(length: number): string
}

/** @param n number of the request: each has separate choices, regardless of the order in which they are made */
export function openChance(seed: number, n: number): Chance {
  let [a, b] = [seed >>> 0, Math.imul(n + 1, 0x9e3779b1) >>> 0]

  /** xoroshiro64** */
  function next(): number {
    const star = Math.imul(a, 0x9e3779bb)
    const result = Math.imul((star << 5) | (star >>> 27), 5) >>> 0
    b ^= a
    a = ((a << 26) | (a >>> 6)) ^ b ^ (b << 9)
    b = (b << 13) | (b >>> 19)
    return result
  }
  for (let warmUp = 0; warmUp < 8; warmUp++) next()

  const below = (limit: number) => Math.floor((next() / 2 ** 32) * limit)
  return {
    below,
    hits: (share) => next() < share * 2 ** 32,
    pick: (from) => from[below(from.length)]!,
    text: (length) => Array.from({ length }, () => below(36).toString(36)).join(''),
  }
}
