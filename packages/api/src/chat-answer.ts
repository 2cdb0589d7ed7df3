import type { Usage } from '@gateway/pricing/usage'
import { z } from 'zod'

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

// The answer of a model, as the wire of chat completions writes it. Every other wire is written from it (wires/wire.ts).

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter'

export interface Choice {
  index: 0
  message: AnswerMessage
  logprobs: Logprobs | null
  finish_reason: FinishReason
}

export interface AnswerMessage {
  role: 'assistant'
  content: string | null
  refusal: string | null
  tool_calls?: ToolCall[]
  reasoning_content?: string
  reasoning?: string
  reasoning_details?: ReasoningDetail[]
}

/** Reasoning in the form that its provider must get back (reasoning-item.ts of packages/providers). */
export type ReasoningDetail =
  | { type: 'reasoning.text'; text: string; signature: string }
  /** `id` names the tool call it belongs to, if any. */
  | { type: 'reasoning.encrypted'; data: string; id?: string }

export interface ToolCall {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
}

export interface ChunkChoice {
  index: 0
  delta: Delta
  logprobs?: Logprobs
  finish_reason: FinishReason | null
}

export interface Delta {
  role?: 'assistant'
  content?: string | null
  refusal?: string
  tool_calls?: ToolCallDelta[]
  reasoning_content?: string
  reasoning?: string
  /** Details that are complete, after the reasoning they belong to. */
  reasoning_details?: ReasoningDetail[]
}

export interface ToolCallDelta {
  index: number
  id?: string
  type?: 'function'
  function?: { name?: string; arguments?: string }
}

export interface Logprobs {
  content: TokenLogprob[] | null
  refusal: TokenLogprob[] | null
}

export interface TokenLogprob extends TopLogprob {
  top_logprobs: TopLogprob[]
}

export interface TopLogprob {
  token: string
  logprob: number
  bytes: number[] | null
}

/** How a try at a provider ended: `answered`, the kind of its failure, or `stopped`: the gateway ended it. */
const tryOutcome = z.enum([
  'answered',
  'unreachable',
  'refused',
  'timeout',
  'cut',
  'garbage',
  'too_large',
  'busy',
  'circuit_open',
  'stopped',
])
export type TryOutcome = z.infer<typeof tryOutcome>

/** Since the admission of the call, in milliseconds. */
const sinceAdmission = z.int().min(0).max(3_600_000)

export const providerTry = z.strictObject({
  provider: z.string().min(1).max(64),
  startMs: sinceAdmission.describe('from the admission of the call'),
  endMs: sinceAdmission.describe('from the admission of the call'),
  outcome: tryOutcome,
})
export type ProviderTry = z.infer<typeof providerTry>

/** Maximum number of tries kept for a call: the last ones. */
export const MAX_TRIES = 16

/** What happened between the admission of a call and its end, as the process that served it measured it. */
export const callTiming = z.strictObject({
  /** First chunk of a streamed response; null: not streamed, or there was none. */
  firstTokenMs: sinceAdmission.nullable(),
  tries: z.array(providerTry).max(MAX_TRIES),
})
export type CallTiming = z.infer<typeof callTiming>
