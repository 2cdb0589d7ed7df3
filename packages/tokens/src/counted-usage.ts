import type { ChatRequest } from '@gateway/api/chat-request'
import type { Usage as ReportedUsage } from '@gateway/providers/chat-port'
import type { AnswerUsage } from '@gateway/api/chat-answer'
import type { Usage } from '@gateway/pricing/usage'
import { promptText } from './prompt-text.ts'
import type { CountTokens } from './token-counter.ts'

/** Usage of a call: what is recorded (`recordedUsage`), and the details that its caller sees in addition. */
export type CountedUsage = Usage & AnswerUsage

/** Tokens that the wire format adds to each message and to the whole, by the published count of the chat format. */
const PER_MESSAGE = 3
const PER_REPLY = 3

/** The request of the call, its owner, and the provider that responded. */
interface Asked {
  request: Pick<ChatRequest, 'forwarded' | 'promptSize'>
  project: string
  provider: string
}

/**
 * Why the usage of a complete response is not what its provider reported. It is our own count, except for the last:
 * - `missing`: the provider reported none, or one with a count that is not a whole number from 0 up
 * - `no_prompt`: it reported no tokens for a prompt, which is never empty
 * - `no_completion`: it reported no tokens for a response that is not empty
 * - `part_too_high`: it reported more cached, cache-write or reasoning tokens than the whole, which caps them
 */
export type UsageFault = 'missing' | 'no_prompt' | 'no_completion' | 'part_too_high'

/**
 * Returns the usage of a call: what the provider reported or, if that is missing or can't be true, our own count of the
 * prompt and of the response text (money §3.3).
 * @param replaced called once for each complete response whose usage is not what the provider reported
 */
export function usageCounter(count: CountTokens, replaced: (facts: { provider: string; reason: UsageFault }) => void) {
  return async (
    /** `cut`: the response broke off, so no usage is expected. */
    reported: ReportedUsage | null | 'cut',
    { request, project, provider }: Asked,
    answered: () => string,
  ): Promise<CountedUsage> => {
    const fault = reported === 'cut' ? null : faultOf(reported, answered)
    if (fault !== null) replaced({ provider, reason: fault })
    const isUsed = fault === null || fault === 'part_too_high'
    if (isUsed && reported !== null && reported !== 'cut') return fromReport(reported)
    const [prompt, completion] = await Promise.all([
      count(promptText(request.forwarded), project),
      count(answered(), project),
    ])
    const promptTokens = prompt + PER_MESSAGE * request.promptSize.messages + PER_REPLY
    return { promptTokens, completionTokens: completion, estimated: true }
  }
}

export type CountUsage = ReturnType<typeof usageCounter>

function faultOf(reported: ReportedUsage | null, answered: () => string): UsageFault | null {
  if (reported === null) return 'missing'
  if (reported.promptTokens === 0) return 'no_prompt'
  if (reported.completionTokens === 0 && answered() !== '') return 'no_completion'
  const { prompt_tokens_details: prompt = {}, completion_tokens_details: completion = {} } = reported.details
  const promptParts = (prompt['cached_tokens'] ?? 0) + (prompt['cache_write_tokens'] ?? 0)
  const isTooHigh =
    promptParts > reported.promptTokens || (completion['reasoning_tokens'] ?? 0) > reported.completionTokens
  return isTooHigh ? 'part_too_high' : null
}

function fromReport({ promptTokens, completionTokens, details }: ReportedUsage): CountedUsage {
  const { prompt_tokens_details: prompt, completion_tokens_details: completion } = details
  const cachedTokens = partOf(promptTokens, prompt?.['cached_tokens'])
  const cacheWriteTokens = partOf(promptTokens - (cachedTokens ?? 0), prompt?.['cache_write_tokens'])
  const reasoningTokens = partOf(completionTokens, completion?.['reasoning_tokens'])
  return {
    promptTokens,
    completionTokens,
    ...(cachedTokens !== undefined && { cachedTokens }),
    ...(cacheWriteTokens !== undefined && { cacheWriteTokens }),
    ...(reasoningTokens !== undefined && { reasoningTokens }),
    estimated: false,
    details: {
      ...(prompt && {
        prompt: {
          ...prompt,
          ...(cachedTokens !== undefined && { cached_tokens: cachedTokens }),
          ...(cacheWriteTokens !== undefined && { cache_write_tokens: cacheWriteTokens }),
        },
      }),
      ...(completion && {
        completion: { ...completion, ...(reasoningTokens !== undefined && { reasoning_tokens: reasoningTokens }) },
      }),
    },
  }
}

/** A part never exceeds the whole, regardless of the report; the caller sees what is charged. */
function partOf(whole: number, part: number | undefined): number | undefined {
  return part === undefined ? undefined : Math.min(part, whole)
}
