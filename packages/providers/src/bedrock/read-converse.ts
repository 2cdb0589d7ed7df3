import type { AnswerMessage, FinishReason, ReasoningDetail, ToolCall } from '@gateway/api/chat-answer'
import { callIdOf, type ChatChunk, type Completion, maxToolCalls, type Usage } from '../chat-port.ts'
import type { ReasoningSeal } from '../openai-responses/reasoning-item.ts'
import { ErrorInAnswer, type Fields, fieldsOf, isCount, list, parseUntrusted, text, UnfitAnswer } from '../untrusted.ts'
import { type Reasoning, sealedReasoning } from './write-converse.ts'
import { openBlockStream } from '../read-stream.ts'
import type { ReadEvent } from '../wire-format.ts'

const mostBlocks = 10_000

/** Rebuilds a completion from the known blocks and drops everything else. Throws `UnfitAnswer`. */
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

/** Statuses of exceptions inside a stream, from the reference of ConverseStreamOutput. */
const statusOfException: Record<string, number> = {
  internalServerException: 500,
  modelStreamErrorException: 424,
  serviceUnavailableException: 503,
  throttlingException: 429,
  validationException: 400,
}

/**
 * Reads the events of one stream.
 *   C1  The usage is in a separate event, after the stop reason or before it.
 *   C2  Events and blocks of unknown type are ignored.
 *   C3  The details needed to continue the reasoning follow each block of it, complete.
 */
export function openConverseEvents(seal: ReasoningSeal): ReadEvent {
  const stream = openBlockStream()
  const thoughts = new Map<unknown, Reasoning>()

  function startBlock({ contentBlockIndex: at, start }: Fields): ChatChunk | null {
    const { toolUse } = fieldsOf(start)
    if (toolUse === undefined) return null // C2
    const { toolUseId, name } = fieldsOf(toolUse)
    return stream.startCall(at, toolUseId, name)
  }

  function takeDelta({ contentBlockIndex: at, delta }: Fields): ChatChunk | null {
    const { text: said, toolUse, reasoningContent } = fieldsOf(delta)
    if (said !== undefined) return stream.says('content', text(said, 'content'))
    if (toolUse !== undefined) return stream.moreArguments(at, text(fieldsOf(toolUse)['input'], 'tool arguments'))
    return reasoningContent === undefined ? null : thinks(at, fieldsOf(reasoningContent)) // C2
  }

  function thinks(at: unknown, { text: words = '', signature = '', redactedContent = '' }: Fields): ChatChunk | null {
    const open = thoughts.get(at) ?? { text: '', signature: '', redacted: '' }
    thoughts.set(at, open)
    const thought = text(words, 'reasoning')
    open.text += thought
    open.signature += text(signature, 'a signature')
    open.redacted += text(redactedContent, 'redacted reasoning')
    return stream.says('reasoning_content', thought)
  }

  function stopBlock({ contentBlockIndex: at }: Fields): ChatChunk | null {
    const thought = thoughts.get(at)
    if (thought === undefined) return stream.stop(at)
    const details = sealedReasoning(thought, seal)
    return details.length > 0 ? stream.chunk({ reasoning_details: details }) : null // C3
  }

  function stop({ stopReason }: Fields): ChatChunk {
    const { choices } = stream.chunk({})
    return { choices: choices.map((choice) => ({ ...choice, finish_reason: finishReasonOf(stopReason) })), usage: null }
  }

  function count({ usage }: Fields): ChatChunk | null {
    const counted = rebuildUsage(usage)
    return counted && { choices: [], usage: counted } // C1
  }

  const readers: Record<string, (fields: Fields) => ChatChunk | null> = {
    contentBlockStart: startBlock,
    contentBlockDelta: takeDelta,
    contentBlockStop: stopBlock,
    messageStop: stop,
    metadata: count,
  }

  return (data) => {
    const [[name, fields] = ['', {}]] = Object.entries(fieldsOf(parseUntrusted(data, 'an event')))
    if (/(exception|error)$/i.test(name)) throw new ErrorInAnswer(statusOfException[name])
    return Object.hasOwn(readers, name) ? readers[name]!(fieldsOf(fields)) : null // C2
  }
}

/**
 * Returns the usage, or null if it is missing or invalid. Cache reads and writes are not part of `inputTokens` in this
 * format, but part of the prompt in all others.
 */
function rebuildUsage(value: unknown): Usage | null {
  const { inputTokens, outputTokens, cacheReadInputTokens, cacheWriteInputTokens } = fieldsOf(value)
  const [read, written] = [cacheReadInputTokens ?? 0, cacheWriteInputTokens ?? 0]
  if (!isCount(inputTokens) || !isCount(outputTokens) || !isCount(read) || !isCount(written)) return null
  return {
    promptTokens: inputTokens + read + written,
    completionTokens: outputTokens,
    details: { prompt_tokens_details: { cached_tokens: read, cache_write_tokens: written } },
  }
}

const known = new Map<unknown, FinishReason>([
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['guardrail_intervened', 'content_filter'],
  ['content_filtered', 'content_filter'],
])

/** Maps a stop reason to ours. Throws `UnfitAnswer`. */
function finishReasonOf(stopReason: unknown): FinishReason {
  if (typeof stopReason !== 'string') throw new UnfitAnswer('the answer has no stop reason')
  if (stopReason.startsWith('malformed_')) throw new UnfitAnswer('the model wrote what is not an answer')
  return known.get(stopReason) ?? 'stop'
}
