import type { Usage } from '../chat-port.ts'
import { fieldsOf, isCount } from '../untrusted.ts'

/**
 * The usage, or null when it is missing or makes no sense. A count that is zero is left out in this format. What was thought
 * stands beside the answer's tokens here and is priced like them, so it is part of the completion, as everywhere else.
 */
export function rebuildUsage(value: unknown): Usage | null {
  const { promptTokenCount: prompt, ...counts } = fieldsOf(value)
  const [tools = 0, answer = 0, thoughts = 0, cached = 0] = [
    'toolUsePromptTokenCount',
    'candidatesTokenCount',
    'thoughtsTokenCount',
    'cachedContentTokenCount',
  ].map((name) => counts[name] ?? 0) as unknown[]
  if (!isCount(prompt) || !isCount(tools) || !isCount(answer) || !isCount(thoughts) || !isCount(cached)) return null
  return {
    promptTokens: prompt + tools,
    completionTokens: answer + thoughts,
    details: {
      prompt_tokens_details: { cached_tokens: cached },
      completion_tokens_details: { reasoning_tokens: thoughts },
    },
  }
}
