import type { FinishReason } from '../chat-port.ts'
import { UnfitAnswer } from '../untrusted.ts'

const known = new Map<unknown, FinishReason>([
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['guardrail_intervened', 'content_filter'],
  ['content_filtered', 'content_filter'],
])

/** Why the answer ended, in our words. Throws `UnfitAnswer`. */
export function finishReasonOf(stopReason: unknown): FinishReason {
  if (typeof stopReason !== 'string') throw new UnfitAnswer('the answer has no stop reason')
  if (stopReason.startsWith('malformed_')) throw new UnfitAnswer('the model wrote what is no answer')
  return known.get(stopReason) ?? 'stop'
}
