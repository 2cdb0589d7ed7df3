import type { Logprobs, TokenLogprob, TopLogprob } from '../chat-port.ts'
import { fieldsOf, list, text, UnfitAnswer } from '../untrusted.ts'

/** The log-probabilities, or null where the provider gave none. Throws `UnfitAnswer`. */
export function rebuildLogprobs(value: unknown): Logprobs | null {
  if (value === null || value === undefined) return null
  const { content, refusal } = fieldsOf(value)
  return { content: tokens(content), refusal: tokens(refusal) }
}

function tokens(value: unknown): TokenLogprob[] | null {
  if (value === null || value === undefined) return null
  return list(value, 100_000, 'logprobs').map((token) => ({
    ...rebuildToken(token),
    top_logprobs: list(fieldsOf(token)['top_logprobs'], 64, 'top_logprobs').map(rebuildToken),
  }))
}

function rebuildToken(value: unknown): TopLogprob {
  const { token, logprob, bytes } = fieldsOf(value)
  if (typeof logprob !== 'number') throw new UnfitAnswer('logprob is not a number')
  const numbers = list(bytes, 1_000, 'bytes').filter((byte) => typeof byte === 'number')
  return { token: text(token, 'token'), logprob, bytes: Array.isArray(bytes) ? numbers : null }
}
