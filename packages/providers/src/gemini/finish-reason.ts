import type { FinishReason } from '../chat-port.ts'
import { UnfitAnswer } from '../untrusted.ts'

const filtered = new Set<unknown>([
  'SAFETY',
  'RECITATION',
  'LANGUAGE',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'IMAGE_SAFETY',
])

/** The model wrote what is no call, or the conversation is not the one it had: there is no answer to hand on. */
const broken = new Set<unknown>(['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'MISSING_THOUGHT_SIGNATURE'])

/** Why the answer ended, in our words; null while it goes on. Throws `UnfitAnswer`. */
export function finishReasonOf(reason: unknown, calledTools: boolean): FinishReason | null {
  if (typeof reason !== 'string' || reason === '' || reason === 'FINISH_REASON_UNSPECIFIED') return null
  if (broken.has(reason)) throw new UnfitAnswer('the model made a call that is none')
  if (filtered.has(reason)) return 'content_filter'
  if (reason === 'MAX_TOKENS') return 'length'
  return calledTools ? 'tool_calls' : 'stop'
}
