import type { AnswerRefusal } from './conversation.ts'

/**
 * Largest number of output tokens that would be admitted after a refusal by the wallet, the key limit or the context
 * window, or null if fewer tokens don't help.
 * @param asked requested output tokens and the price of one output token
 */
export function admissibleTokens(
  { code, details }: Pick<AnswerRefusal, 'code' | 'details'>,
  asked: { tokens: number; completionPico: bigint },
): number | null {
  const fact = (name: string) => Number(details[name] ?? 0)
  const fewer = (): number => {
    if (code === 'insufficient_budget') return fact('affordableMaxTokens')
    if (code === 'context_limit') return Math.min(fact('maxOutputTokens'), fact('contextLength') - fact('promptTokens'))
    if (code !== 'key_limit' || asked.completionPico === 0n) return 0
    const missingMicro = fact('neededMicro') + fact('spentMicro') + fact('reservedMicro') - fact('limitMicro')
    return asked.tokens - Math.ceil((missingMicro * PICO) / Number(asked.completionPico))
  }
  const tokens = fewer()
  return tokens > 0 && tokens < asked.tokens ? tokens : null
}

/** Pico-USD per micro-USD. */
const PICO = 1_000_000
