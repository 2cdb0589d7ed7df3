import type { Usage } from '../chat-port.ts'
import { fieldsOf, isCount } from '../untrusted.ts'

/**
 * The usage, or null when it is missing or makes no sense. What was read from the cache or written to it is not part of
 * `inputTokens` here, and is part of the prompt everywhere else.
 */
export function rebuildUsage(value: unknown): Usage | null {
  const { inputTokens, outputTokens, cacheReadInputTokens, cacheWriteInputTokens } = fieldsOf(value)
  const [read, written] = [cacheReadInputTokens ?? 0, cacheWriteInputTokens ?? 0]
  if (!isCount(inputTokens) || !isCount(outputTokens) || !isCount(read) || !isCount(written)) return null
  return {
    promptTokens: inputTokens + read + written,
    completionTokens: outputTokens,
    details: { prompt_tokens_details: { cached_tokens: read, cache_write_tokens: written } },
  }
}
