import type { FinishReason } from '../chat-port.ts'

/**
 * `refusal` becomes `content_filter`, which it is; its explanation is left out, because it may speak of whose policy
 * it is.
 */
const known = new Map<unknown, FinishReason>([
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
])

/** Why the answer ended, in our words. null while it goes on. */
export function finishReasonOf(stopReason: unknown): FinishReason | null {
  if (typeof stopReason !== 'string' || stopReason === '') return null
  return known.get(stopReason) ?? 'stop'
}
