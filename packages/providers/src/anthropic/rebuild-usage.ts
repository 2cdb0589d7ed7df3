import type { Usage } from '../chat-port.ts'
import { fieldsOf, isCount } from '../untrusted.ts'
import type { Fields } from '../untrusted.ts'

/**
 * The usage, or null when it is missing or makes no sense. What was read from the cache or written to it is not part of
 * `input_tokens` here, and is part of the prompt everywhere else.
 */
export function rebuildUsage(value: unknown): Usage | null {
  const fields = fieldsOf(value)
  const { input_tokens: input, output_tokens: output, output_tokens_details: outputDetails } = fields
  const read = countOrNone(fields, 'cache_read_input_tokens')
  const written = countOrNone(fields, 'cache_creation_input_tokens')
  if (!isCount(input) || !isCount(output) || read === null || written === null) return null
  const { thinking_tokens: thinking } = fieldsOf(outputDetails)
  return {
    promptTokens: input + read + written,
    completionTokens: output,
    details: {
      prompt_tokens_details: { cached_tokens: read, cache_write_tokens: written },
      ...(isCount(thinking) && { completion_tokens_details: { reasoning_tokens: thinking } }),
    },
  }
}

/** null for what is no count. */
function countOrNone(fields: Fields, name: string): number | null {
  const value = fields[name] ?? 0
  return isCount(value) ? value : null
}
