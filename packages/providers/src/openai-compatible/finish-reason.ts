import type { FinishReason } from '../chat-port.ts'

const known = new Map<unknown, FinishReason>([
  ['stop', 'stop'],
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['tool_calls', 'tool_calls'],
  ['tool_use', 'tool_calls'],
  ['content_filter', 'content_filter'],
  ['safety', 'content_filter'],
])

/** Why the answer ended, in our words: a provider's own word could tell which one it is. null while it goes on. */
export function finishReason(value: unknown): FinishReason | null {
  if (typeof value !== 'string' || value === '') return null
  return known.get(value) ?? 'stop'
}
