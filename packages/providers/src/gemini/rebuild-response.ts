import { maxToolCalls } from '../answer-limits.ts'
import type { AnswerMessage, Completion } from '../chat-port.ts'
import type { ReasoningSeal } from '../reasoning-seal.ts'
import { UnfitAnswer } from '../untrusted.ts'
import { readCandidate } from './candidate.ts'

/** A completion built anew from the parts we know; everything else is left behind. Throws `UnfitAnswer`. */
export function rebuildResponse(body: unknown, seal: ReasoningSeal): Completion {
  const { said, thought, calls, details, finish, usage } = readCandidate(body, false, seal)
  if (finish === null) throw new UnfitAnswer('the answer has no finish reason')
  if (calls.length > maxToolCalls) throw new UnfitAnswer('there are too many tool calls')
  const message: AnswerMessage = {
    role: 'assistant',
    content: said === '' && (calls.length > 0 || finish === 'content_filter') ? null : said,
    refusal: null,
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(thought !== '' && { reasoning_content: thought }),
    ...(details.length > 0 && { reasoning_details: details }),
  }
  return { choices: [{ index: 0, message, logprobs: null, finish_reason: finish }], usage }
}
