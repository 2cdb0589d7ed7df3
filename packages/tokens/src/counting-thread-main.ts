import { answerQuestions } from '@gateway/service-kit/async/worker-thread'
import { openBytePairCounter, type CountText } from './byte-pair-counter.ts'
import { loadVocabulary, type TokenizerFamily } from './tokenizer-families.ts'

// A counting thread. It loads the tables of a tokenizer on first use.

export interface Slice {
  family: TokenizerFamily
  text: string
}

const counters = new Map<TokenizerFamily, Promise<CountText>>()

function counterOf(family: TokenizerFamily): Promise<CountText> {
  const counter = counters.get(family) ?? loadVocabulary(family).then(openBytePairCounter)
  counters.set(family, counter)
  return counter
}

answerQuestions(async (slices: Slice[]): Promise<number[]> => {
  const tokens: number[] = []
  for (const { family, text } of slices) tokens.push((await counterOf(family))(text))
  return tokens
})
