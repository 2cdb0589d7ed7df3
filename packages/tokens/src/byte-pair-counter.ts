import { openMerger } from './merge-word.ts'

/** What a tokenizer of the byte-pair kind is made of. */
export interface Vocabulary {
  /** By rank: a text, or bytes that are none. What has a lower rank is merged first. */
  tokens: readonly (string | readonly number[] | undefined)[]
  /** Divides a text into words, with the flag `g`. No token reaches across words. */
  words: RegExp
}

/** Tokens of a text as a tokenizer counts them. */
export type CountText = (text: string) => number

/** A part of a text that is no longer is a copy of its own; one that is longer would keep the whole text. */
const COPIED = 12
const WORDS_KEPT = 16_384

/**
 * Counts as the tokenizer itself does, in time that grows with the length of the text and hardly faster, whatever the text is.
 * What looks like a token that steers a model is text, because the caller wrote it.
 */
export function openBytePairCounter({ tokens, words }: Vocabulary): CountText {
  const ranks = ranksOf(tokens)
  const merge = openMerger(ranks)
  const kept = new Map<string, number>() // few words are most of a text, and a small map is fast

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

/** The rank of each token by its bytes: a text with one character a byte, which is the token itself where that is ASCII. */
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
