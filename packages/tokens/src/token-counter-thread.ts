import { parentPort } from 'node:worker_threads'
import { maxTokensOf, tokensOf, type CountText } from './tokens-of.ts'

// The thread that counts. It loads the tables of a tokenizer when they are first asked for.

export type TokenizerFamily = 'o200k_base' | 'cl100k_base'

export interface CountQuestion {
  n: number
  family: TokenizerFamily
  texts: string[]
  /** Whether an answer may be too low by a token here and there. */
  how: 'about' | 'at-most'
}
export interface CountAnswer {
  n: number
  tokens: number
}

/** What the caller wrote is text, also where it looks like a token that steers a model. */
const AS_TEXT = { disallowedSpecial: new Set<string>() }

const tables: Record<TokenizerFamily, () => Promise<CountText>> = {
  o200k_base: async () => counterOf(await import('gpt-tokenizer/encoding/o200k_base')),
  cl100k_base: async () => counterOf(await import('gpt-tokenizer/encoding/cl100k_base')),
}
const loaded = new Map<TokenizerFamily, Promise<CountText>>()

function counterOf({
  countTokens,
  setMergeCacheSize,
}: {
  countTokens: (text: string, options: typeof AS_TEXT) => number
  setMergeCacheSize: (words: number) => void
}): CountText {
  setMergeCacheSize(0) // it would keep the texts whose words it knows
  return (text) => countTokens(text, AS_TEXT)
}

function load(family: TokenizerFamily): Promise<CountText> {
  const ready = loaded.get(family) ?? tables[family]()
  loaded.set(family, ready)
  return ready
}

parentPort!.on('message', async ({ n, family, texts, how }: CountQuestion) => {
  const count = await load(family)
  const countInSlices = how === 'at-most' ? maxTokensOf : tokensOf
  let tokens = 0
  for (const text of texts) tokens += countInSlices(text, count)
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no such target
  parentPort!.postMessage({ n, tokens } satisfies CountAnswer)
})
