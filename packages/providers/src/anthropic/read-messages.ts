import type { AnswerMessage, FinishReason, ReasoningDetail, ToolCall } from '@gateway/api/chat-answer'
import { callIdOf, type ChatChunk, type Completion, maxToolCalls, type Usage } from '../chat-port.ts'
import type { ReasoningSeal } from '../openai-responses/reasoning-item.ts'
import { ErrorInAnswer, type Fields, fieldsOf, isCount, list, parseUntrusted, text, UnfitAnswer } from '../untrusted.ts'
import { sealedThinking } from './write-messages.ts'
import { openBlockStream } from '../read-stream.ts'
import type { ReadEvent } from '../wire-format.ts'

const mostBlocks = 10_000

/** Rebuilds a completion from the known blocks and drops everything else. Throws `UnfitAnswer`. */
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

interface OpenThought {
  type: unknown
  thinking: string
  signature: string
  data: unknown
}

/**
 * Reads the events of one stream.
 *   M1  The first event counts the prompt and the last one the output, and possibly the prompt again. The output count
 *       of the first event is a placeholder.
 *   M2  Events and blocks of unknown type are ignored, because the format evolves by adding them.
 *   M3  The details needed to continue the reasoning follow each thinking block, complete.
 */
export function openMessageEvents(seal: ReasoningSeal): ReadEvent {
  let counts: Fields = {}
  let ended = false
  const stream = openBlockStream()
  const thoughts = new Map<unknown, OpenThought>()

  function startBlock({ index, content_block: started }: Fields): ChatChunk | null {
    const block = fieldsOf(started)
    switch (block['type']) {
      case 'text':
        return block['text'] ? stream.says('content', text(block['text'], 'a text block')) : null
      case 'tool_use':
        return stream.startCall(index, block['id'], block['name'])
      case 'thinking':
      case 'redacted_thinking':
        thoughts.set(index, { type: block['type'], thinking: '', signature: '', data: block['data'] })
        return thinks(index, text(block['thinking'] ?? '', 'a thinking block'))
      default:
        return null // M2
    }
  }

  function takeDelta({ index, delta: given }: Fields): ChatChunk | null {
    const delta = fieldsOf(given)
    switch (delta['type']) {
      case 'text_delta':
        return stream.says('content', text(delta['text'], 'content'))
      case 'thinking_delta':
        return thinks(index, text(delta['thinking'], 'reasoning_content'))
      case 'signature_delta': {
        const open = thoughts.get(index)
        if (open) open.signature += text(delta['signature'], 'a signature')
        return null
      }
      case 'input_json_delta':
        return stream.moreArguments(index, text(delta['partial_json'], 'tool arguments'))
      default:
        return null // M2
    }
  }

  function thinks(index: unknown, words: string): ChatChunk | null {
    const open = thoughts.get(index)
    if (open) open.thinking += words
    return stream.says('reasoning_content', words)
  }

  function stopBlock({ index }: Fields): ChatChunk | null {
    const thought = thoughts.get(index)
    if (thought === undefined) return stream.stop(index)
    const details = sealedThinking({ ...thought }, seal)
    return details.length > 0 ? stream.chunk({ reasoning_details: details }) : null // M3
  }

  function end({ delta, usage }: Fields): ChatChunk | null {
    const reason = finishReasonOf(fieldsOf(delta)['stop_reason'])
    counts = { ...counts, ...withoutNulls(fieldsOf(usage)) }
    if (reason === null && !ended) return null
    ended = true
    const { choices } = stream.chunk({})
    const closed = choices.map((choice) => ({ ...choice, finish_reason: reason }))
    return { choices: reason === null ? [] : closed, usage: rebuildUsage(counts) } // M1
  }

  return (data) => {
    const event = parseUntrusted(data, 'an event')
    throwErrorInside(event)
    const fields = fieldsOf(event)
    switch (fields['type']) {
      case 'message_start':
        counts = { ...fieldsOf(fieldsOf(fields['message'])['usage']), output_tokens: undefined } // M1
        return null
      case 'content_block_start':
        return startBlock(fields)
      case 'content_block_delta':
        return takeDelta(fields)
      case 'content_block_stop':
        return stopBlock(fields)
      case 'message_delta':
        return end(fields)
      case 'message_stop':
        return 'end'
      default:
        return null // M2
    }
  }
}

function withoutNulls(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
}

/**
 * Returns the usage, or null if it is missing or invalid. Cache reads and writes are not part of `input_tokens` in this
 * format, but part of the prompt in all others.
 */
export function rebuildUsage(value: unknown): Usage | null {
  const fields = fieldsOf(value)
  const { input_tokens: input, output_tokens: output, output_tokens_details: outputDetails } = fields
  const read = countOrNone(fields, 'cache_read_input_tokens')
  const written = countOrNone(fields, 'cache_creation_input_tokens')
  const { thinking_tokens: thinking = null } = fieldsOf(outputDetails)
  const isThinkingValid = thinking === null || isCount(thinking)
  if (!isCount(input) || !isCount(output) || read === null || written === null || !isThinkingValid) return null
  return {
    promptTokens: input + read + written,
    completionTokens: output,
    details: {
      prompt_tokens_details: { cached_tokens: read, cache_write_tokens: written },
      ...(thinking !== null && { completion_tokens_details: { reasoning_tokens: thinking } }),
    },
  }
}

/** Returns the count, 0 if absent, or null if invalid. */
function countOrNone(fields: Fields, name: string): number | null {
  const value = fields[name] ?? 0
  return isCount(value) ? value : null
}

/**
 * `refusal` maps to `content_filter`, its equivalent. Its explanation is dropped, because it may name whose policy it
 * is.
 */
const known = new Map<unknown, FinishReason>([
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
])

/** Maps a stop reason to ours. Returns null while the response continues. */
function finishReasonOf(stopReason: unknown): FinishReason | null {
  if (typeof stopReason !== 'string' || stopReason === '') return null
  return known.get(stopReason) ?? 'stop'
}

/** Status of an error response of this type. */
const statusOfType: Record<string, number> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
}

/** Throws `ErrorInAnswer` if this body or event is an error. */
export function throwErrorInside(value: unknown): void {
  const { type, error } = fieldsOf(value)
  if (type !== 'error') return
  const kind = fieldsOf(error)['type']
  throw new ErrorInAnswer(typeof kind === 'string' ? statusOfType[kind] : undefined)
}
