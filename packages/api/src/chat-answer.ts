import type { Usage } from '@gateway/pricing/usage'

/** Usage that a provider reported or that we counted, in tokens. */
export interface AnswerUsage extends Pick<Usage, 'promptTokens' | 'completionTokens'> {
  /** Allow-listed `prompt_tokens_details` and `completion_tokens_details`. Priced details have the values charged. */
  details?: { prompt?: Record<string, number>; completion?: Record<string, number> }
}

/** The `usage` object on the wire. */
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
 * @param chargedMicro the charge of the call in micro-USD; null if not on record, which leaves the cost out. A million
 * USD is far below the point where a JSON number would lose a micro-USD or need an exponent.
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
