import { parentPort } from 'node:worker_threads'
import { openBytePairCounter, type CountText } from './byte-pair-counter.ts'
import { loadVocabulary, type TokenizerFamily } from './tokenizer-families.ts'

// A counting thread. It loads the tables of a tokenizer on first use.

export interface CountQuestion {
  n: number
  slices: { family: TokenizerFamily; text: string }[]
}
export interface CountAnswer {
  n: number
  tokens: number[]
}

const counters = new Map<TokenizerFamily, Promise<CountText>>()

function counterOf(family: TokenizerFamily): Promise<CountText> {
  const counter = counters.get(family) ?? loadVocabulary(family).then(openBytePairCounter)
  counters.set(family, counter)
  return counter
}

parentPort!.on('message', async ({ n, slices }: CountQuestion) => {
  const tokens: number[] = []
  for (const { family, text } of slices) tokens.push((await counterOf(family))(text))
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no such target
  parentPort!.postMessage({ n, tokens } satisfies CountAnswer)
})
