import type { AnswerRefusal } from './conversation.ts'

/**
 * How many tokens could be asked for at most, where that is what clears a refusal: of the wallet, of the limit of the key, or of what
 * the model can answer. null where fewer tokens do not help.
 * @param asked what was asked for, in tokens, and what a token of the answer costs
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

/** Of a micro-USD. */
const PICO = 1_000_000
