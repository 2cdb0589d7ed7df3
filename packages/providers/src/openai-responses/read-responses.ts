import type {
  AnswerMessage,
  Choice,
  FinishReason,
  ReasoningDetail,
  TokenLogprob,
  ToolCall,
} from '@gateway/api/chat-answer'
import { callIdOf, type ChatChunk, type Completion, maxToolCalls, type Usage } from '../chat-port.ts'
import { rebuildLogprobs } from '../openai-compatible/read-chat.ts'
import { openBlockStream } from '../read-stream.ts'
import { type ReasoningSeal, sealedItem, thoughtsOf } from './reasoning-item.ts'
import {
  countsIn,
  ErrorInAnswer,
  type Fields,
  fieldsOf,
  isCount,
  list,
  parseUntrusted,
  text,
  UnfitAnswer,
} from '../untrusted.ts'
import type { ReadEvent } from '../wire-format.ts'

const mostItems = 10_000
const betweenThoughts = '\n\n'

/**
 * Collects the details of reasoning items. Each belongs to the item after it: a detail before a tool call gets its ID,
 * and one that nothing follows is dropped, because the format refuses to take it back.
 */
function openDetails(seal: ReasoningSeal) {
  let waiting: ReasoningDetail[] = []
  return {
    add(item: Fields): void {
      const detail = sealedItem(item, seal)
      if (detail !== null) waiting.push(detail)
    },
    /** Returns the details before an item. */
    before(item: Fields): ReasoningDetail[] {
      if (item['type'] !== 'function_call' && item['type'] !== 'message') return []
      const id = item['type'] === 'function_call' ? { id: callIdOf(text(item['call_id'], 'tool call id')) } : {}
      const details = waiting.map((detail) => ({ ...detail, ...id }))
      waiting = []
      return details
    },
  }
}

/** Rebuilds a completion from the known items and drops everything else. Throws `UnfitAnswer` or `ErrorInAnswer`. */
export function rebuildResponse(body: unknown, seal: ReasoningSeal): Completion {
  throwErrorInside(body)
  const { output, usage } = fieldsOf(body)
  if (!Array.isArray(output)) throw new UnfitAnswer('the body is not a response')
  let said: string | null = null
  let refusal: string | null = null
  const thoughts: string[] = []
  const calls: ToolCall[] = []
  const details: ReasoningDetail[] = []
  const logprobs: TokenLogprob[] = []
  const waiting = openDetails(seal)
  for (const item of list(output, mostItems, 'output').map(fieldsOf)) {
    details.push(...waiting.before(item))
    if (item['type'] === 'function_call') calls.push(toolCall(item))
    if (item['type'] === 'reasoning') {
      thoughts.push(...thoughtsOf(item))
      waiting.add(item)
    }
    if (item['type'] !== 'message') continue
    for (const part of list(item['content'], mostItems, 'content').map(fieldsOf)) {
      if (part['type'] === 'refusal') refusal = (refusal ?? '') + text(part['refusal'], 'a refusal')
      if (part['type'] !== 'output_text') continue
      said = (said ?? '') + text(part['text'], 'a text')
      logprobs.push(...logprobsOf(part))
    }
  }
  if (calls.length > maxToolCalls) throw new UnfitAnswer('there are too many tool calls')
  const message: AnswerMessage = {
    role: 'assistant',
    content: said ?? (calls.length > 0 || refusal !== null ? null : ''),
    refusal,
  }
  if (calls.length > 0) message.tool_calls = calls
  if (thoughts.length > 0) message.reasoning_content = thoughts.join(betweenThoughts)
  if (details.length > 0) message.reasoning_details = details
  const choice: Choice = {
    index: 0,
    message,
    logprobs: logprobs.length > 0 ? { content: logprobs, refusal: null } : null,
    finish_reason: finishReasonOf(body, calls.length > 0),
  }
  return { choices: [choice], usage: rebuildUsage(usage) }
}

function toolCall({ call_id: id, name, arguments: json }: Fields): ToolCall {
  return {
    id: callIdOf(text(id, 'tool call id')),
    type: 'function',
    function: { name: text(name, 'tool name'), arguments: text(json, 'tool arguments') },
  }
}

function logprobsOf({ logprobs }: Fields): TokenLogprob[] {
  return rebuildLogprobs({ content: logprobs })?.content ?? []
}

/**
 * Reads the events of one stream.
 *   E1  Texts are read from deltas. The complete texts that follow them are ignored, except arguments without deltas.
 *   E2  Events and items of unknown type are ignored, because the format evolves by adding them.
 *   E3  A reasoning item is read when it is done, and passed on when the item after it begins (openDetails).
 *   E4  The last event has the status and the usage. Nothing follows it.
 */
export function openResponseEvents(seal: ReasoningSeal): ReadEvent {
  const stream = openBlockStream()
  const waiting = openDetails(seal)
  const calls = new Set<unknown>()
  const argued = new Set<unknown>()
  let thought = false

  function addItem({ output_index: at, item: added }: Fields): ChatChunk | null {
    const item = fieldsOf(added)
    const details = waiting.before(item) // E3
    const more = details.length > 0 && { reasoning_details: details }
    if (item['type'] !== 'function_call') return more ? stream.chunk(more) : null
    calls.add(at)
    const started = stream.startCall(at, item['call_id'], item['name'])
    if (more) started.choices[0]!.delta = { ...started.choices[0]!.delta, ...more }
    return started
  }

  function finishItem({ output_index: at, item: done }: Fields): ChatChunk | null {
    const item = fieldsOf(done)
    if (item['type'] === 'reasoning') waiting.add(item)
    if (item['type'] !== 'function_call' || !calls.has(at)) return null
    const json = argued.has(at) ? '' : text(item['arguments'], 'tool arguments') // E1
    return stream.moreArguments(at, json) ?? stream.stop(at)
  }

  function says({ delta, logprobs }: Fields): ChatChunk | null {
    const chunk = stream.says('content', text(delta, 'content'))
    const tokens = logprobsOf({ logprobs })
    if (chunk && tokens.length > 0) chunk.choices[0]!.logprobs = { content: tokens, refusal: null }
    return chunk
  }

  function refuses({ delta }: Fields): ChatChunk | null {
    const words = text(delta, 'a refusal')
    return words === '' ? null : stream.chunk({ refusal: words })
  }

  function argues({ output_index: at, delta }: Fields): ChatChunk | null {
    argued.add(at)
    return stream.moreArguments(at, text(delta, 'tool arguments'))
  }

  function thinks(words: string): ChatChunk | null {
    thought ||= words !== ''
    return stream.says('reasoning_content', words)
  }

  function end({ response }: Fields): ChatChunk {
    const { choices } = stream.chunk({})
    choices[0]!.finish_reason = finishReasonOf(response, calls.size > 0)
    return { choices, usage: rebuildUsage(fieldsOf(response)['usage']) } // E4
  }

  return (data) => {
    if (data === '[DONE]') return 'end'
    const event = parseUntrusted(data, 'an event')
    throwErrorInside(event)
    const fields = fieldsOf(event)
    switch (fields['type']) {
      case 'response.output_item.added':
        return addItem(fields)
      case 'response.output_item.done':
        return finishItem(fields)
      case 'response.output_text.delta':
        return says(fields)
      case 'response.refusal.delta':
        return refuses(fields)
      case 'response.function_call_arguments.delta':
        return argues(fields)
      case 'response.reasoning_summary_part.added':
        return thinks(thought ? betweenThoughts : '')
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        return thinks(text(fields['delta'], 'reasoning_content'))
      case 'response.completed':
      case 'response.incomplete':
        return end(fields)
      default:
        return null // E2
    }
  }
}

/** Maps the status of a complete response. Throws `UnfitAnswer` for a response that continues. */
function finishReasonOf(response: unknown, calls: boolean): FinishReason {
  const { status, incomplete_details: details } = fieldsOf(response)
  if (status === 'incomplete') return fieldsOf(details)['reason'] === 'content_filter' ? 'content_filter' : 'length'
  if (status === 'in_progress' || status === 'queued') throw new UnfitAnswer('the response is not complete')
  return calls ? 'tool_calls' : 'stop'
}

/** Returns the usage, or null if it is missing or invalid. */
function rebuildUsage(value: unknown): Usage | null {
  const fields = fieldsOf(value)
  const { input_tokens: input, output_tokens: output } = fields
  const prompt = countsIn(fields['input_tokens_details'], ['cached_tokens', 'cache_write_tokens'])
  const completion = countsIn(fields['output_tokens_details'], ['reasoning_tokens'])
  if (!isCount(input) || !isCount(output) || prompt === null || completion === null) return null
  return {
    promptTokens: input,
    completionTokens: output,
    details: {
      ...(prompt && { prompt_tokens_details: prompt }),
      ...(completion && { completion_tokens_details: completion }),
    },
  }
}

/** Status of a failure with this code; undefined for others. */
function statusOf(code: unknown): number | undefined {
  if (typeof code === 'number' && code >= 400 && code < 600) return code
  if (typeof code !== 'string') return undefined
  if (code === 'rate_limit_exceeded') return 429
  if (code === 'server_error') return 500
  return /^(invalid_|image_|empty_image|unsupported_|context_length)/.test(code) ? 400 : undefined
}

/** Throws `ErrorInAnswer` if this body or event is an error, or a response that failed. */
function throwErrorInside(value: unknown): void {
  const fields = fieldsOf(value)
  const response = fields['type'] === 'response.failed' ? fieldsOf(fields['response']) : fields
  const { status, error } = response
  const failed = fields['type'] === 'error' || fields['type'] === 'response.failed' || Boolean(error)
  if (!failed && status !== 'failed' && status !== 'cancelled') return
  throw new ErrorInAnswer(statusOf(fieldsOf(error)['code'] ?? fields['code']))
}
