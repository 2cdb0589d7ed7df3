import { maxToolCalls } from '../answer-limits.ts'
import { callIdOf } from '../call-id.ts'
import type { ChatChunk, ChunkChoice, Delta, ToolCallDelta } from '../chat-port.ts'
import { fieldsOf, list, text, textOrNull, UnfitAnswer } from '../untrusted.ts'
import { finishReason } from './finish-reason.ts'
import { rebuildLogprobs } from './rebuild-logprobs.ts'
import { rebuildUsage } from './rebuild-usage.ts'

/**
 * A chunk built anew from the fields we know; everything else is left behind, and choices other than the first one
 * too. null for a chunk that then says nothing. Throws `UnfitAnswer`.
 */
export function rebuildChunk(event: unknown): ChatChunk | null {
  if (typeof event !== 'object' || event === null) throw new UnfitAnswer('a chunk is not an object')
  const { choices, usage } = fieldsOf(event)
  const rebuilt: ChunkChoice[] = []
  for (const choice of list(choices, 128, 'choices')) {
    const { index } = fieldsOf(choice)
    if (index === 0 || index === undefined) rebuilt.push(rebuildChoice(choice))
  }
  const counted = rebuildUsage(usage)
  return rebuilt.length === 0 && counted === null ? null : { choices: rebuilt, usage: counted }
}

function rebuildChoice(value: unknown): ChunkChoice {
  const { delta, logprobs, finish_reason: reason } = fieldsOf(value)
  const choice: ChunkChoice = { index: 0, delta: rebuildDelta(delta), finish_reason: finishReason(reason) }
  const rebuilt = rebuildLogprobs(logprobs)
  if (rebuilt) choice.logprobs = rebuilt
  return choice
}

function rebuildDelta(value: unknown): Delta {
  const { role, content, refusal, tool_calls: calls, reasoning_content: reasoningContent, reasoning } = fieldsOf(value)
  const delta: Delta = {}
  if (role !== undefined && role !== null) delta.role = 'assistant'
  if (content !== undefined) delta.content = textOrNull(content, 'content')
  if (typeof refusal === 'string') delta.refusal = refusal
  const toolCalls = list(calls, maxToolCalls, 'tool_calls')
  if (toolCalls.length > 0) delta.tool_calls = toolCalls.map(rebuildToolCall)
  if (typeof reasoningContent === 'string') delta.reasoning_content = reasoningContent
  if (typeof reasoning === 'string') delta.reasoning = reasoning
  return delta
}

/** Some providers leave the index out; then the place in the list is meant. */
function rebuildToolCall(value: unknown, place: number): ToolCallDelta {
  const { index = place, id, type, function: called } = fieldsOf(value)
  if (!Number.isInteger(index) || (index as number) < 0 || (index as number) >= maxToolCalls)
    throw new UnfitAnswer('tool call index is out of bounds')
  const call: ToolCallDelta = { index: index as number }
  if (typeof id === 'string') call.id = callIdOf(id)
  if (typeof type === 'string') call.type = 'function'
  const { name, arguments: given } = fieldsOf(called)
  if (name !== undefined || given !== undefined) {
    call.function = {}
    if (typeof name === 'string') call.function.name = name
    if (given !== undefined && given !== null) call.function.arguments = text(given, 'function arguments')
  }
  return call
}
