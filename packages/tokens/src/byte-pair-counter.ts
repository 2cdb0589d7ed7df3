/** The tables of a byte-pair tokenizer. */
export interface Vocabulary {
  /** Indexed by rank: text, or bytes that are not text. Lower ranks merge first. */
  tokens: readonly (string | readonly number[] | undefined)[]
  /** Splits a text into words, with the flag `g`. No token spans words. */
  words: RegExp
}

/** Returns the number of tokens of a text. */
export type CountText = (text: string) => number

/** A slice up to this length is copied; a longer one would keep the whole text in memory. */
const COPIED = 12
const WORDS_KEPT = 16_384

/**
 * Counts as the tokenizer itself does, in nearly linear time for any text. A special token in the text counts as plain
 * text, because the caller wrote it.
 */
export function openBytePairCounter({ tokens, words }: Vocabulary): CountText {
  const ranks = ranksOf(tokens)
  const merge = openMerger(ranks)
  const kept = new Map<string, number>() // a few words make up most of a text, and a small map is fast

  function countWord(word: string): number {
    const bytes = bytesOf(word)
    return ranks.has(bytes) ? 1 : merge(bytes)
  }

  return (text) => {
    let count = 0
    for (const word of text.match(words) ?? []) {
      let tokens = kept.get(word)
      if (tokens === undefined) {
        tokens = countWord(word)
        if (kept.size >= WORDS_KEPT) kept.clear()
        if (word.length <= COPIED) kept.set(word, tokens)
      }
      count += tokens
    }
    return count
  }
}

/** The rank of each token by its bytes, as a text with one character per byte: for ASCII, the token itself. */
function ranksOf(tokens: Vocabulary['tokens']): Map<string, number> {
  const ranks = new Map<string, number>()
  tokens.forEach((token, rank) => {
    if (token !== undefined) ranks.set(typeof token === 'string' ? bytesOf(token) : String.fromCharCode(...token), rank)
  })
  return ranks
}

// oxlint-disable-next-line no-control-regex -- all of ASCII
const ASCII = /^[\0-\x7f]*$/

function bytesOf(text: string): string {
  return ASCII.test(text) ? text : Buffer.from(text).toString('latin1')
}

// Counts the tokens left of one word after byte-pair merging.
//   W1  Among all adjacent pairs that form a token, those of the lowest rank merge first, from the left.
//   W2  Pairs are kept in a heap by rank and position, so a word of n bytes takes n log n steps. Scanning all pairs for
//       each merge takes n squared, and a caller can send a word of 128,000 bytes.
//   W3  A heap entry whose pair has changed since is skipped: the rank stored for it is no longer the same.

/** Multiplier of the rank in heap numbers; a rank and a position together stay exact. */
const PLACES = 2 ** 26
const NONE = -1

/** Returns a counter of the tokens in a word's bytes, for a word that is not itself a token. */
function openMerger(ranks: Ranks): (bytes: string) => number {
  const pairRanks = openPairRanks(ranks)
  const heap = openLowestFirst()
  // Each part of the word is identified by its start.
  let places = placesFor(64)

  /** Looks up the token that a part and the next one form. */
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
    /** The rank of the part's token. */
    token: new Int32Array(size),
    next: new Int32Array(size),
    before: new Int32Array(size),
    /** The rank of the part and the next one together; NONE if they are not a token. */
    pair: new Int32Array(size),
  }
}

/** The rank of each token by its bytes, as a text with one character per byte. */
export type Ranks = ReadonlyMap<string, number>

// Caches the token that two tokens form. Texts repeat few pairs, so results are kept by the two ranks: slicing the
// bytes and looking them up among all tokens takes ten times as long. The size is fixed: a pair evicts the one in its
// slot.

const SLOTS = 2 ** 16
/** Above the number of tokens. */
const TOKENS = 2 ** 20

function openPairRanks(ranks: Ranks) {
  const keys = new Float64Array(SLOTS).fill(NONE)
  const found = new Int32Array(SLOTS)
  const ofBytes = Int32Array.from({ length: 256 }, (_, byte) => ranks.get(String.fromCharCode(byte)) ?? NONE)
  let longest = 0
  for (const bytes of ranks.keys()) longest = Math.max(longest, bytes.length)

  return {
    tokenOfByte: (byte: number): number => ofBytes[byte]!,
    /** The rank of two tokens, which span `bytes` from `start` to `end`; -1 if they don't form a token. */
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

/** Numbers, taken lowest first: a binary heap. */
export interface LowestFirst {
  push(entry: number): void
  pop(): number | undefined
}

function openLowestFirst(): LowestFirst {
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
