/** The rank of each token by its bytes: a text with one character a byte. */
export type Ranks = ReadonlyMap<string, number>

// Which token two tokens are together. Texts have few pairs, again and again, so what was looked up is kept by the two numbers: to
// take the bytes out of a word and to look them up among all tokens takes ten times as long. The room is fixed: a pair takes
// the place of whichever was there.

const SLOTS = 2 ** 16
const NONE = -1
/** More than there are tokens. */
const TOKENS = 2 ** 20

export function openPairRanks(ranks: Ranks) {
  const keys = new Float64Array(SLOTS).fill(NONE)
  const found = new Int32Array(SLOTS)
  const ofBytes = Int32Array.from({ length: 256 }, (_, byte) => ranks.get(String.fromCharCode(byte)) ?? NONE)
  let longest = 0
  for (const bytes of ranks.keys()) longest = Math.max(longest, bytes.length)

  return {
    tokenOfByte: (byte: number): number => ofBytes[byte]!,
    /** The rank of two tokens, which stand in `bytes` from `start` to `end`; -1: they are none together. */
    rankOf(left: number, right: number, bytes: string, start: number, end: number): number {
      const key = left * TOKENS + right
      const slot = (Math.imul(left, 0x9e_37_79_b1) ^ Math.imul(right, 0x85_eb_ca_6b)) >>> 16
      if (keys[slot] === key) return found[slot]!
      const rank = end - start > longest ? NONE : (ranks.get(bytes.slice(start, end)) ?? NONE)
      keys[slot] = key
      found[slot] = rank
      return rank
    },
  }
}
