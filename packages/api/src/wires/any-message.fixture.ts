import fc from 'fast-check'
import type { AnswerMessage, ReasoningDetail } from '../chat-answer.ts'

const words = fc.constantFrom('', ' ', 'Hm', '{}')
const call = fc.record({
  id: fc.constantFrom('call_a', 'call_b'),
  type: fc.constant('function' as const),
  function: fc.record({ name: fc.constantFrom('look', 'draw'), arguments: fc.constantFrom('', '{}', '{"q":1}', '[') }),
})
const detail = fc.oneof(
  fc.record({ type: fc.constant('reasoning.text' as const), text: words, signature: fc.constantFrom('', 'sealed') }),
  fc.record({ type: fc.constant('reasoning.encrypted' as const), data: words }),
) satisfies fc.Arbitrary<ReasoningDetail>

/** Any message that a provider's answer may be read as. */
export const anyMessage: fc.Arbitrary<AnswerMessage> = fc.record(
  {
    role: fc.constant('assistant' as const),
    content: fc.option(words),
    refusal: fc.option(words),
    tool_calls: fc.array(call, { minLength: 1, maxLength: 3 }),
    reasoning_content: words,
    reasoning: words,
    reasoning_details: fc.array(detail, { maxLength: 3 }),
  },
  { requiredKeys: ['role', 'content', 'refusal'] },
)
