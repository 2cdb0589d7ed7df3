import type { Usage } from '@gateway/pricing/usage'

/** What a provider reported, or what we counted ourselves. Tokens. */
export interface AnswerUsage extends Pick<Usage, 'promptTokens' | 'completionTokens'> {
  /** Allow-listed `prompt_tokens_details` and `completion_tokens_details`; what is priced of them is as it is charged. */
  details?: { prompt?: Record<string, number>; completion?: Record<string, number> }
}

/** The `usage` object of the wire. */
export interface WireUsage {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  prompt_tokens_details?: Record<string, number>
  completion_tokens_details?: Record<string, number>
  /** USD. */
  cost?: number
  /** micro-USD. */
  cost_micro?: number
}

/**
 * @param chargedMicro what the call is charged, in micro-USD; null: not on record, and then nothing is reported. A million USD is
 * far below where a number of JSON would lose a micro-USD or be written with an exponent.
 */
export function wireUsage(usage: AnswerUsage, chargedMicro: number | null): WireUsage {
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
    ...(usage.details?.prompt && { prompt_tokens_details: usage.details.prompt }),
    ...(usage.details?.completion && { completion_tokens_details: usage.details.completion }),
    ...(chargedMicro !== null && { cost: chargedMicro / 1_000_000, cost_micro: chargedMicro }),
  }
}
