import type { ChatRequest } from '@gateway/api/chat-request'
import type { Usage as ReportedUsage } from '@gateway/providers/chat-port'
import type { AnswerUsage } from '@gateway/api/chat-answer'
import type { Usage } from '@gateway/pricing/usage'
import { promptText } from './prompt-text.ts'
import type { CountTokens } from './token-counter.ts'

/** What a call has used: what of it is recorded (`recordedUsage`), and the details that its caller is shown as well. */
export type CountedUsage = Usage & AnswerUsage

/** What the wire format wraps around each message and around the whole, by the published count of the chat format. */
const PER_MESSAGE = 3
const PER_REPLY = 3

/** Of which call it is, and whose. */
interface Asked {
  request: ChatRequest
  project: string
}

/**
 * What a call has used: what the provider reported or, where it reported nothing, our own count of the prompt and of the text
 * that was answered (money §3.3).
 */
export function usageCounter(count: CountTokens) {
  return async (
    reported: ReportedUsage | null,
    { request, project }: Asked,
    answered: () => string,
  ): Promise<CountedUsage> => {
    if (reported) return fromReport(reported)
    const [prompt, completion] = await Promise.all([
      count(promptText(request.forwarded), project),
      count(answered(), project),
    ])
    const promptTokens = prompt + PER_MESSAGE * request.promptSize.messages + PER_REPLY
    return { promptTokens, completionTokens: completion, estimated: true }
  }
}

export type CountUsage = ReturnType<typeof usageCounter>

function fromReport({ promptTokens, completionTokens, details }: ReportedUsage): CountedUsage {
  const { prompt_tokens_details: prompt, completion_tokens_details: completion } = details
  const cachedTokens = partOf(promptTokens, prompt?.['cached_tokens'])
  const reasoningTokens = partOf(completionTokens, completion?.['reasoning_tokens'])
  return {
    promptTokens,
    completionTokens,
    ...(cachedTokens !== undefined && { cachedTokens }),
    ...(reasoningTokens !== undefined && { reasoningTokens }),
    estimated: false,
    details: {
      ...(prompt && { prompt: { ...prompt, ...(cachedTokens !== undefined && { cached_tokens: cachedTokens }) } }),
      ...(completion && {
        completion: { ...completion, ...(reasoningTokens !== undefined && { reasoning_tokens: reasoningTokens }) },
      }),
    },
  }
}

/** A part is never more than the whole, no matter what was reported; what the caller is shown is what is charged. */
function partOf(whole: number, part: number | undefined): number | undefined {
  return part === undefined ? undefined : Math.min(part, whole)
}
