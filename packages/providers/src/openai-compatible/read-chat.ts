import type {
  AnswerMessage,
  ChunkChoice,
  Delta,
  FinishReason,
  Logprobs,
  TokenLogprob,
  ToolCall,
  ToolCallDelta,
  TopLogprob,
} from '@gateway/api/chat-answer'
import { callIdOf, type ChatChunk, type Completion, maxToolCalls, type Usage } from '../chat-port.ts'
import {
  ErrorInAnswer,
  type Fields,
  fieldsOf,
  countsIn,
  isCount,
  list,
  parseUntrusted,
  text,
  textOrNull,
  UnfitAnswer,
} from '../untrusted.ts'
import type { ReadEvent } from '../wire-format.ts'

/**
 * Rebuilds a completion from the known fields and drops everything else. Only the first choice counts, because one
 * completion is charged per call (rules §3.6). Throws `UnfitAnswer`.
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
  const said = saidIn(content)
  const message: AnswerMessage = {
    role: 'assistant',
    content: said.content,
    refusal: textOrNull(refusal, 'refusal'),
  }
  const toolCalls = list(calls, maxToolCalls, 'tool_calls')
  if (toolCalls.length > 0) message.tool_calls = toolCalls.map(rebuildToolCall)
  if (said.thought !== '') message.reasoning_content = said.thought
  if (typeof reasoningContent === 'string') message.reasoning_content = reasoningContent
  if (typeof reasoning === 'string') message.reasoning = reasoning
  return message
}

/** Mistral sends the answer of a model that thinks as parts; other models of it and other providers send a text. */
function saidIn(content: unknown): { content: string | null; thought: string } {
  if (!Array.isArray(content)) return { content: textOrNull(content, 'content'), thought: '' }
  const parts = list(content, mostParts, 'content').map(fieldsOf)
  const texts = parts.filter(({ type }) => type === 'text')
  const thoughts = parts.flatMap(({ type, thinking }) =>
    type === 'thinking' ? list(thinking, mostParts, 'thinking') : [],
  )
  return { content: texts.length > 0 ? joined(texts) : null, thought: joined(thoughts.map(fieldsOf)) }
}

const mostParts = 10_000

/** Returns the texts among the parts as one. */
function joined(parts: Fields[]): string {
  return parts.map((part) => (part['type'] === 'text' ? text(part['text'], 'a part') : '')).join('')
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

/**
 * Rebuilds a chunk from the known fields and drops everything else, including choices other than the first. Returns
 * null for a chunk that is then empty. Throws `UnfitAnswer`.
 * @param numberOf numbers the tool calls of its stream
 */
export function rebuildChunk(event: unknown, numberOf = openCallNumbers()): ChatChunk | null {
  if (typeof event !== 'object' || event === null) throw new UnfitAnswer('a chunk is not an object')
  const { choices, usage } = fieldsOf(event)
  const rebuilt: ChunkChoice[] = []
  for (const choice of list(choices, 128, 'choices')) {
    const { index } = fieldsOf(choice)
    if (index === 0 || index === undefined) rebuilt.push(rebuildChoice(choice, numberOf))
  }
  const counted = rebuildUsage(usage)
  return rebuilt.length === 0 && counted === null ? null : { choices: rebuilt, usage: counted }
}

function rebuildChoice(value: unknown, numberOf: NumberOfCall): ChunkChoice {
  const { delta, logprobs, finish_reason: reason } = fieldsOf(value)
  const choice: ChunkChoice = { index: 0, delta: rebuildDelta(delta, numberOf), finish_reason: finishReason(reason) }
  const rebuilt = rebuildLogprobs(logprobs)
  if (rebuilt) choice.logprobs = rebuilt
  return choice
}

function rebuildDelta(value: unknown, numberOf: NumberOfCall): Delta {
  const { role, content, refusal, tool_calls: calls, reasoning_content: reasoningContent, reasoning } = fieldsOf(value)
  const delta: Delta = {}
  if (role !== undefined && role !== null) delta.role = 'assistant'
  const said = saidIn(content)
  if (said.content !== null || content === null) delta.content = said.content
  if (said.thought !== '') delta.reasoning_content = said.thought
  if (typeof refusal === 'string') delta.refusal = refusal
  const toolCalls = list(calls, maxToolCalls, 'tool_calls')
  if (toolCalls.length > 0)
    delta.tool_calls = toolCalls.map((call, place) => rebuildToolCallPart(call, place, numberOf))
  if (typeof reasoningContent === 'string') delta.reasoning_content = reasoningContent
  if (typeof reasoning === 'string') delta.reasoning = reasoning
  return delta
}

/** Some providers omit the index; the position in the list is then used. */
function rebuildToolCallPart(value: unknown, place: number, numberOf: NumberOfCall): ToolCallDelta {
  const { index = place, id, type, function: called } = fieldsOf(value)
  if (!isCount(index)) throw new UnfitAnswer('tool call index is out of bounds')
  const { name, arguments: given } = fieldsOf(called)
  const call: ToolCallDelta = { index: numberOf(index, id, name) }
  if (typeof id === 'string' && (id || name)) call.id = callIdOf(id) // continued calls may have an empty one
  if (typeof type === 'string') call.type = 'function'
  if (name !== undefined || given !== undefined) {
    call.function = {}
    if (typeof name === 'string') call.function.name = name
    if (given !== undefined && given !== null) call.function.arguments = text(given, 'function arguments')
  }
  return call
}

/** Returns the position of a tool call among those of its stream, from the index, ID and name of one of its deltas. */
type NumberOfCall = (index: number, id: unknown, name: unknown) => number

/**
 * Opens the numbers of one stream's tool calls. Some servers (Ollama) send each call whole with index 0, or without one:
 * an index that comes with another ID and a name starts the next call.
 */
function openCallNumbers(): NumberOfCall {
  /** The latest call of each index. */
  const latest = new Map<number, { number: number; id: unknown }>()
  let count = 0
  return (index, id, name) => {
    const known = latest.get(index)
    if (known !== undefined) {
      known.id ||= id
      if (!id || !name || id === known.id) return known.number
    }
    if (count === maxToolCalls) throw new UnfitAnswer('there are too many tool calls')
    latest.set(index, { number: count, id })
    return count++
  }
}

/**
 * Reads the events of one stream.
 *   V1  Most providers start with a role-only chunk, long before any content. It is held back and its role added to the
 *       first chunk with content, so that a provider that fails in between has not responded.
 *   V2  An event that differs from an earlier one in its content alone is read without parsing.
 */
export function openChatEvents(): ReadEvent {
  let begun = false
  let role: Pick<Delta, 'role'> = {}
  const numberOf = openCallNumbers()
  const frame = openContentFrame(read)

  function read(data: string): ChatChunk | null {
    const event = parseUntrusted(data, 'an event')
    throwErrorInside(event)
    return rebuildChunk(event, numberOf)
  }

  return (data) => {
    const known = frame.read(data)
    if (known !== null) return known
    if (data === '[DONE]') return 'end'
    const chunk = read(data)
    if (begun || chunk === null) {
      if (chunk !== null) frame.learn(data, chunk)
      return chunk
    }
    const [choice] = chunk.choices
    if (choice?.delta.role) role = { role: choice.delta.role }
    if (!choice || !saysSomething(chunk)) return null
    begun = true
    choice.delta = { ...role, ...choice.delta }
    return chunk
  }
}

function saysSomething({ choices }: ChatChunk): boolean {
  return choices.some(
    ({ delta: { content, refusal, reasoning, reasoning_content: thought, tool_calls: calls }, finish_reason: end }) =>
      end !== null || Boolean(content || refusal || reasoning || thought) || calls !== undefined,
  )
}

/** Returns the log probabilities, or null if the provider sent none. Throws `UnfitAnswer`. */
export function rebuildLogprobs(value: unknown): Logprobs | null {
  if (value === null || value === undefined) return null
  const { content, refusal } = fieldsOf(value)
  return { content: tokens(content), refusal: tokens(refusal) }
}

function tokens(value: unknown): TokenLogprob[] | null {
  if (value === null || value === undefined) return null
  return list(value, 100_000, 'logprobs').map((token) => ({
    ...rebuildToken(token),
    top_logprobs: list(fieldsOf(token)['top_logprobs'], 64, 'top_logprobs').map(rebuildToken),
  }))
}

function rebuildToken(value: unknown): TopLogprob {
  const { token, logprob, bytes } = fieldsOf(value)
  if (typeof logprob !== 'number') throw new UnfitAnswer('logprob is not a number')
  const numbers = list(bytes, 1_000, 'bytes').filter((byte) => typeof byte === 'number')
  return { token: text(token, 'token'), logprob, bytes: Array.isArray(bytes) ? numbers : null }
}

const promptDetails = ['cached_tokens', 'cache_write_tokens', 'audio_tokens', 'image_tokens'] as const
const completionDetails = [
  'reasoning_tokens',
  'audio_tokens',
  'image_tokens',
  'accepted_prediction_tokens',
  'rejected_prediction_tokens',
] as const

/**
 * Returns the usage, or null if it is missing or invalid: a charge is never based on a partial count. Reasoning is part
 * of the completion; a provider whose total shows that it counts reasoning separately (xAI) gets it added.
 */
export function rebuildUsage(value: unknown): Usage | null {
  if (typeof value !== 'object' || value === null) return null
  const fields = value as Fields
  const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = fields
  const prompt = countsIn(fields['prompt_tokens_details'], promptDetails)
  const completion = countsIn(fields['completion_tokens_details'], completionDetails)
  if (!isCount(promptTokens) || !isCount(completionTokens) || prompt === null || completion === null) return null
  const reasoning = completion?.['reasoning_tokens'] ?? 0
  const total = fields['total_tokens']
  const isSeparate = isCount(total) && total === promptTokens + completionTokens + reasoning
  const usage: Usage = { promptTokens, completionTokens: completionTokens + (isSeparate ? reasoning : 0), details: {} }
  if (prompt) usage.details.prompt_tokens_details = prompt
  if (completion) usage.details.completion_tokens_details = completion
  return usage
}

const known = new Map<unknown, FinishReason>([
  ['stop', 'stop'],
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['model_length', 'length'],
  ['tool_calls', 'tool_calls'],
  ['tool_use', 'tool_calls'],
  ['content_filter', 'content_filter'],
  ['safety', 'content_filter'],
])

/** Maps a finish reason to ours, since other values could identify the provider. Returns null while it continues. */
function finishReason(value: unknown): FinishReason | null {
  if (typeof value !== 'string' || value === '') return null
  return known.get(value) ?? 'stop'
}

/** Finish reasons of an answer that broke off at the provider: it is not whole, so it must not end with `stop`. */
const brokenOff = new Set<unknown>(['error', 'insufficient_system_resource', 'abort', 'aborted', 'network_error'])

/** Throws `ErrorInAnswer` for an error in the body or an event: some providers send errors with status 200. */
export function throwErrorInside(value: unknown): void {
  const { error, choices } = fieldsOf(value)
  const ending = fieldsOf(Array.isArray(choices) ? choices[0] : undefined)['finish_reason']
  if (!brokenOff.has(ending) && (error === undefined || error === null)) return
  const { code, status } = fieldsOf(error)
  throw new ErrorInAnswer([code, status].map(Number).find((number) => number >= 400 && number < 600))
}

// Most events of a stream differ only in their content. Once the text around it is known, such an event is read without
// parsing the rest, which is half of the cost of a chunk.
//   F1  A frame is known only if another content in its place is read as such, so that it surrounds the content of the
//       delta and no other field.
//   F2  The content is read as JSON reads it: unchanged if it needs no escapes, else as a JSON string. Any other
//       event is not in the frame.

interface ContentFrame {
  /** Returns the chunk of an event in the frame; null for any other. */
  read(data: string): ChatChunk | null
  /** Learns the frame from an event that was read as this chunk, if it has nothing but content. */
  learn(data: string, chunk: ChatChunk): void
}

/** How often a frame is looked for: events of some streams differ in more than their content. */
const ATTEMPTS = 8

/** @param parse reads an event whole */
function openContentFrame(parse: (data: string) => ChatChunk | null): ContentFrame {
  let before: string | null = null
  let after = ''
  let attemptsLeft = ATTEMPTS

  return {
    read(data) {
      if (before === null) return null
      const end = data.length - after.length
      // Comparing slices takes half of the time of startsWith and endsWith.
      if (end < before.length || data.slice(0, before.length) !== before || data.slice(end) !== after) return null
      const content = unescaped(data.slice(before.length, end))
      return content === null ? null : { choices: [{ index: 0, delta: { content }, finish_reason: null }], usage: null }
    },
    learn(data, chunk) {
      const content = onlyContentOf(chunk)
      if (content === null || !standsForItself(content) || attemptsLeft === 0) return
      attemptsLeft--
      const found = /"content":\s?"/.exec(data)
      const start = found === null ? -1 : found.index + found[0].length
      if (start < 0 || !data.startsWith(`${content}"`, start)) return
      const [head, tail] = [data.slice(0, start), data.slice(start + content.length)]
      const probe = parse(`${head}${content} ${tail}`)
      if (probe === null || onlyContentOf(probe) !== `${content} `) return // F1
      before = copied(head)
      after = copied(tail)
    },
  }
}

/** Returns null if the chunk has anything else. */
function onlyContentOf({ choices, usage }: ChatChunk): string | null {
  const [choice] = choices
  if (usage !== null || choices.length !== 1 || choice === undefined) return null
  const { delta, finish_reason: reason, logprobs } = choice
  return reason === null && logprobs === undefined && Object.keys(delta).length === 1 ? (delta.content ?? null) : null
}

/** F2 */
function unescaped(text: string): string | null {
  if (standsForItself(text)) return text
  try {
    return JSON.parse(`"${text}"`) as string
  } catch {
    return null
  }
}

/** Whether JSON needs no escapes for this text. A loop takes half of the time of a pattern. */
function standsForItself(text: string): boolean {
  for (let n = 0; n < text.length; n++) {
    const unit = text.charCodeAt(n)
    if (unit === QUOTE || unit === BACKSLASH || unit < SPACE) return false
  }
  return true
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const SPACE = 0x20

/** A text apart from the longer one that it is a part of, which it would keep in memory. */
function copied(part: string): string {
  return Buffer.from(part).toString()
}
