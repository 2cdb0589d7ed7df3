import { maxToolCalls } from '../answer-limits.ts'
import { callIdOf } from '../call-id.ts'
import type { AnswerMessage, Completion, ReasoningDetail, ToolCall } from '../chat-port.ts'
import type { ReasoningSeal } from '../reasoning-seal.ts'
import { fieldsOf, list, text, UnfitAnswer } from '../untrusted.ts'
import type { Fields } from '../untrusted.ts'
import { rebuildUsage } from './rebuild-usage.ts'
import { sealedReasoning } from './sealed-reasoning.ts'
import { finishReasonOf } from './stop-reason.ts'

const mostBlocks = 10_000

/** A completion built anew from the blocks we know; everything else is left behind. Throws `UnfitAnswer`. */
export function rebuildConverse(body: unknown, seal: ReasoningSeal): Completion {
  const { output, stopReason, usage } = fieldsOf(body)
  const { content } = fieldsOf(fieldsOf(output)['message'])
  if (!Array.isArray(content)) throw new UnfitAnswer('the body holds no message')
  let said: string | null = null
  let thought = ''
  const calls: ToolCall[] = []
  const details: ReasoningDetail[] = []
  for (const block of list(content, mostBlocks, 'content').map(fieldsOf)) {
    if (block['text'] !== undefined) said = (said ?? '') + text(block['text'], 'a text block')
    if (block['toolUse'] !== undefined) calls.push(toolCall(fieldsOf(block['toolUse'])))
    if (block['reasoningContent'] === undefined) continue
    const reasoning = reasoningOf(fieldsOf(block['reasoningContent']))
    thought += reasoning.text
    details.push(...sealedReasoning(reasoning, seal))
  }
  if (calls.length > maxToolCalls) throw new UnfitAnswer('there are too many tool calls')
  const message: AnswerMessage = {
    role: 'assistant',
    content: said ?? (calls.length > 0 ? null : ''),
    refusal: null,
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(thought !== '' && { reasoning_content: thought }),
    ...(details.length > 0 && { reasoning_details: details }),
  }
  const choice = { index: 0 as const, message, logprobs: null, finish_reason: finishReasonOf(stopReason) }
  return { choices: [choice], usage: rebuildUsage(usage) }
}

function toolCall({ toolUseId, name, input }: Fields): ToolCall {
  return {
    id: callIdOf(text(toolUseId, 'tool call id')),
    type: 'function',
    function: { name: text(name, 'tool name'), arguments: JSON.stringify(input ?? {}) },
  }
}

function reasoningOf({ reasoningText, redactedContent }: Fields) {
  const { text: thought = '', signature = '' } = fieldsOf(reasoningText)
  return {
    text: text(thought, 'a reasoning block'),
    signature: text(signature, 'a signature'),
    redacted: typeof redactedContent === 'string' ? redactedContent : '',
  }
}
