import type { Usage } from '../chat-port.ts'
import { fieldsOf, isCount } from '../untrusted.ts'
import type { Fields } from '../untrusted.ts'

const promptDetails = ['cached_tokens', 'cache_write_tokens', 'audio_tokens', 'image_tokens'] as const
const completionDetails = [
  'reasoning_tokens',
  'audio_tokens',
  'image_tokens',
  'accepted_prediction_tokens',
  'rejected_prediction_tokens',
] as const

/** The usage, or null when it is missing or makes no sense: a charge is never taken from half a count. */
export function rebuildUsage(value: unknown): Usage | null {
  if (typeof value !== 'object' || value === null) return null
  const fields = value as Fields
  const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = fields
  if (!isCount(promptTokens) || !isCount(completionTokens)) return null
  const usage: Usage = { promptTokens, completionTokens, details: {} }
  const prompt = counts(fields['prompt_tokens_details'], promptDetails)
  const completion = counts(fields['completion_tokens_details'], completionDetails)
  if (prompt) usage.details.prompt_tokens_details = prompt
  if (completion) usage.details.completion_tokens_details = completion
  return usage
}

function counts(value: unknown, names: readonly string[]): Record<string, number> | null {
  if (typeof value !== 'object' || value === null) return null
  const given = fieldsOf(value)
  const kept: Record<string, number> = {}
  for (const name of names) {
    const count = given[name]
    if (isCount(count)) kept[name] = count
  }
  return kept
}
