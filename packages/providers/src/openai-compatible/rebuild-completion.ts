import { maxToolCalls } from '../answer-limits.ts'
import { callIdOf } from '../call-id.ts'
import type { AnswerMessage, Completion, ToolCall } from '../chat-port.ts'
import { fieldsOf, list, text, textOrNull, UnfitAnswer } from '../untrusted.ts'
import { finishReason } from './finish-reason.ts'
import { rebuildLogprobs } from './rebuild-logprobs.ts'
import { rebuildUsage } from './rebuild-usage.ts'

/**
 * A completion built anew from the fields we know; everything else is left behind. Only the first choice counts, for
 * one completion is charged per call (rules §3.6). Throws `UnfitAnswer`.
 */
export function rebuildCompletion(body: unknown): Completion {
  const { choices, usage } = fieldsOf(body)
  const choice = list(choices, 128, 'choices')[0]
  if (choice === undefined) throw new UnfitAnswer('choices is empty')
  const { message, logprobs, finish_reason: reason } = fieldsOf(choice)
  const rebuilt = rebuildMessage(message)
  return {
    choices: [
      {
        index: 0,
        message: rebuilt,
        logprobs: rebuildLogprobs(logprobs),
        finish_reason: finishReason(reason) ?? (rebuilt.tool_calls ? 'tool_calls' : 'stop'),
      },
    ],
    usage: rebuildUsage(usage),
  }
}

function rebuildMessage(value: unknown): AnswerMessage {
  if (typeof value !== 'object' || value === null) throw new UnfitAnswer('message is not an object')
  const { content, refusal, tool_calls: calls, reasoning_content: reasoningContent, reasoning } = fieldsOf(value)
  const message: AnswerMessage = {
    role: 'assistant',
    content: textOrNull(content, 'content'),
    refusal: textOrNull(refusal, 'refusal'),
  }
  const toolCalls = list(calls, maxToolCalls, 'tool_calls')
  if (toolCalls.length > 0) message.tool_calls = toolCalls.map(rebuildToolCall)
  if (typeof reasoningContent === 'string') message.reasoning_content = reasoningContent
  if (typeof reasoning === 'string') message.reasoning = reasoning
  return message
}

function rebuildToolCall(value: unknown): ToolCall {
  const { id, function: called } = fieldsOf(value)
  const { name, arguments: given } = fieldsOf(called)
  return {
    id: callIdOf(text(id, 'tool call id')),
    type: 'function',
    function: { name: text(name, 'function name'), arguments: textOrNull(given, 'function arguments') ?? '' },
  }
}
