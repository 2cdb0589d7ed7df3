import { maxToolCalls } from '../answer-limits.ts'
import { callIdOf } from '../call-id.ts'
import type { AnswerMessage, Completion, ReasoningDetail, ToolCall } from '../chat-port.ts'
import type { ReasoningSeal } from '../reasoning-seal.ts'
import { fieldsOf, list, text, UnfitAnswer } from '../untrusted.ts'
import type { Fields } from '../untrusted.ts'
import { rebuildUsage } from './rebuild-usage.ts'
import { sealedThinking } from './sealed-thinking.ts'
import { finishReasonOf } from './stop-reason.ts'

const mostBlocks = 10_000

/** A completion built anew from the blocks we know; everything else is left behind. Throws `UnfitAnswer`. */
export function rebuildMessage(body: unknown, seal: ReasoningSeal): Completion {
  const { type, content, stop_reason: reason, usage } = fieldsOf(body)
  if (type !== 'message' || !Array.isArray(content)) throw new UnfitAnswer('the body is not a message')
  let said: string | null = null
  let thought = ''
  const calls: ToolCall[] = []
  const details: ReasoningDetail[] = []
  for (const block of list(content, mostBlocks, 'content').map(fieldsOf)) {
    if (typeof block['type'] !== 'string') throw new UnfitAnswer('a block has no type')
    if (block['type'] === 'text') said = (said ?? '') + text(block['text'], 'a text block')
    if (block['type'] === 'thinking') thought += text(block['thinking'], 'a thinking block')
    details.push(...sealedThinking(block, seal))
    if (block['type'] === 'tool_use') calls.push(toolCall(block))
  }
  if (calls.length > maxToolCalls) throw new UnfitAnswer('there are too many tool calls')
  const message: AnswerMessage = {
    role: 'assistant',
    content: said ?? (calls.length > 0 ? null : ''),
    refusal: null,
  }
  if (calls.length > 0) message.tool_calls = calls
  if (thought !== '') message.reasoning_content = thought
  if (details.length > 0) message.reasoning_details = details
  const finish = finishReasonOf(reason) ?? (calls.length > 0 ? 'tool_calls' : 'stop')
  return { choices: [{ index: 0, message, logprobs: null, finish_reason: finish }], usage: rebuildUsage(usage) }
}

function toolCall({ id, name, input }: Fields): ToolCall {
  return {
    id: callIdOf(text(id, 'tool call id')),
    type: 'function',
    function: { name: text(name, 'tool name'), arguments: JSON.stringify(input ?? {}) },
  }
}
