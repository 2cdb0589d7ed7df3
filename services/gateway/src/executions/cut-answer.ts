import type { ChatRequest } from '@gateway/api/chat-request'
import type { CountTokens } from '@gateway/tokens/token-counter'

export interface CutAnswer {
  text: string
  finish: 'stop' | 'length'
}

/**
 * Applies `stop` and `max_tokens` to the text of a sandbox product, as a model would (rules §3.9). Tokens are our own
 * count. The same text and request give the same result.
 */
export async function cutAnswer(
  text: string,
  { forwarded, maxTokens }: Pick<ChatRequest, 'forwarded' | 'maxTokens'>,
  count: (text: string) => ReturnType<CountTokens>,
): Promise<CutAnswer> {
  const stopped = beforeStop(text, [forwarded['stop'] ?? []].flat() as string[])
  if (!maxTokens || (await count(stopped)) <= maxTokens) return { text: stopped, finish: 'stop' }
  return { text: await firstTokens(stopped, maxTokens, count), finish: 'length' }
}

function beforeStop(text: string, sequences: readonly string[]): string {
  const found = sequences.map((sequence) => text.indexOf(sequence)).filter((at) => at >= 0)
  return text.slice(0, Math.min(text.length, ...found))
}

/** The longest beginning with at most this many tokens, cut between characters. */
async function firstTokens(
  text: string,
  maxTokens: number,
  count: (text: string) => ReturnType<CountTokens>,
): Promise<string> {
  const characters = Array.from(text)
  const beginning = (length: number) => characters.slice(0, length).join('')
  let [fits, exceeds] = [0, characters.length]
  while (exceeds - fits > 1) {
    const middle = Math.floor((fits + exceeds) / 2)
    if ((await count(beginning(middle))) <= maxTokens) fits = middle
    else exceeds = middle
  }
  return beginning(fits)
}
