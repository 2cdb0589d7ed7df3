import type { AnswerMessage, Delta, FinishReason, ReasoningDetail, ToolCall } from '@gateway/api/chat-answer'
import { callIdOf, type ChatChunk, type Completion, maxToolCalls, type Usage } from '../chat-port.ts'
import type { ReasoningSeal } from '../openai-responses/reasoning-item.ts'
import { type Fields, fieldsOf, isCount, list, parseUntrusted, text, UnfitAnswer } from '../untrusted.ts'
import { throwErrorInside } from '../openai-compatible/read-chat.ts'
import type { ReadEvent } from '../wire-format.ts'
import { randomBytes } from 'node:crypto'
import type { ReadError } from '../error-facts.ts'

/** Rebuilds a completion from the known parts and drops everything else. Throws `UnfitAnswer`. */
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

/**
 * Reads the events of one stream, each with a piece of the response.
 *   G1  Each reports the usage so far; only the count with or after the end is that of the whole response.
 *   G2  Each tool call arrives complete in one piece.
 */
export function openGenerateEvents(seal: ReasoningSeal): ReadEvent {
  let calls = 0
  let begun = false
  let ended = false

  return (data) => {
    const event = parseUntrusted(data, 'an event')
    throwErrorInside(event)
    const read = readCandidate(event, calls > 0, seal)
    const delta: Delta = {}
    if (!begun) delta.role = 'assistant'
    if (read.thought !== '') delta.reasoning_content = read.thought
    if (read.said !== '') delta.content = read.said
    if (read.calls.length > 0) delta.tool_calls = read.calls.map((call) => ({ index: calls++, ...call })) // G2
    if (calls > maxToolCalls) throw new UnfitAnswer('there are too many tool calls')
    if (read.details.length > 0) delta.reasoning_details = read.details
    const says = read.thought !== '' || read.said !== '' || read.calls.length > 0 || read.details.length > 0
    if (!says && read.finish === null) return ended && read.usage ? { choices: [], usage: read.usage } : null
    begun = true
    ended ||= read.finish !== null
    return chunkOf(delta, read.finish, ended ? read.usage : null) // G1
  }
}

function chunkOf(delta: Delta, finish: ChatChunk['choices'][number]['finish_reason'], usage: ChatChunk['usage']) {
  return { choices: [{ index: 0 as const, delta, finish_reason: finish }], usage }
}

const mostParts = 10_000

/** Content of one response or one piece of a stream, which have the same form. */
export interface Candidate {
  said: string
  thought: string
  calls: ToolCall[]
  details: ReasoningDetail[]
  finish: FinishReason | null
  usage: Usage | null
}

/**
 * Reads a response. Thoughts arrive as summaries. The signature of the actual reasoning is on a part of the response
 * and must come back on that part; on a tool call it carries the ID of the call. Throws `UnfitAnswer`.
 * @param calledBefore whether an earlier piece of the response contained a tool call
 */
function readCandidate(response: unknown, calledBefore: boolean, { seal }: ReasoningSeal): Candidate {
  const { candidates, promptFeedback, usageMetadata } = fieldsOf(response)
  const [first] = list(candidates, 16, 'candidates')
  const usage = rebuildUsage(usageMetadata)
  const read: Candidate = { said: '', thought: '', calls: [], details: [], finish: null, usage }
  if (first === undefined) {
    if (fieldsOf(promptFeedback)['blockReason'] !== undefined) return { ...read, finish: 'content_filter' }
    if (usage !== null) return read
    throw new UnfitAnswer('there is no candidate')
  }
  const { content, finishReason } = fieldsOf(first)
  for (const part of list(fieldsOf(content)['parts'], mostParts, 'parts').map(fieldsOf)) {
    const call = part['functionCall'] === undefined ? null : toolCall(fieldsOf(part['functionCall']))
    if (call) read.calls.push(call)
    else if (part['text'] !== undefined)
      read[part['thought'] === true ? 'thought' : 'said'] += text(part['text'], 'a part')
    const signature = part['thoughtSignature']
    if (typeof signature !== 'string' || signature === '') continue
    const data = seal(signature, call?.id ?? '')
    read.details.push({ type: 'reasoning.encrypted', data, ...(call && { id: call.id }) })
  }
  read.finish = finishReasonOf(finishReason, calledBefore || read.calls.length > 0)
  return read
}

/** Creates an ID if there is none: older models send tool calls without IDs. */
function toolCall({ id, name, args }: Fields): ToolCall {
  return {
    id: typeof id === 'string' && id !== '' ? callIdOf(id) : `call_${randomBytes(12).toString('hex')}`,
    type: 'function',
    function: { name: text(name, 'function name'), arguments: JSON.stringify(args ?? {}) },
  }
}

/**
 * Returns the usage, or null if it is missing or invalid. The format omits counts that are zero. It reports thinking
 * tokens separately from output tokens at the same price, so they are added to the completion, as in all other formats.
 */
function rebuildUsage(value: unknown): Usage | null {
  const { promptTokenCount: prompt, ...counts } = fieldsOf(value)
  const [tools = 0, answer = 0, thoughts = 0, cached = 0] = [
    'toolUsePromptTokenCount',
    'candidatesTokenCount',
    'thoughtsTokenCount',
    'cachedContentTokenCount',
  ].map((name) => counts[name] ?? 0) as unknown[]
  if (!isCount(prompt) || !isCount(tools) || !isCount(answer) || !isCount(thoughts) || !isCount(cached)) return null
  return {
    promptTokens: prompt + tools,
    completionTokens: answer + thoughts,
    details: {
      prompt_tokens_details: { cached_tokens: cached },
      completion_tokens_details: { reasoning_tokens: thoughts },
    },
  }
}

const filtered = new Set<unknown>([
  'SAFETY',
  'RECITATION',
  'LANGUAGE',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'IMAGE_SAFETY',
])

/** The model wrote an invalid tool call, or the conversation was changed. There is no response to forward. */
const broken = new Set<unknown>(['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'MISSING_THOUGHT_SIGNATURE'])

/** Maps a finish reason to ours. Returns null while the response continues. Throws `UnfitAnswer`. */
function finishReasonOf(reason: unknown, calledTools: boolean): FinishReason | null {
  if (typeof reason !== 'string' || reason === '' || reason === 'FINISH_REASON_UNSPECIFIED') return null
  if (broken.has(reason)) throw new UnfitAnswer('the model made a malformed call')
  if (filtered.has(reason)) return 'content_filter'
  if (reason === 'MAX_TOKENS') return 'length'
  return calledTools ? 'tool_calls' : 'stop'
}

/**
 * Reads an error response. Gemini reports an invalid API key as 400, with the reason in the details. For other errors
 * the HTTP status is correct, and `status` is the code, such as `RESOURCE_EXHAUSTED`.
 */
export const readGeminiError: ReadError = (status, _headers, body) => {
  const { status: word, reason } = said(body)
  const code = [reason, word].find((each) => typeof each === 'string' && /^[A-Z][A-Z_]{0,63}$/.test(each))
  const aboutTheKey = typeof reason === 'string' && reason.startsWith('API_KEY_')
  return { status: status === 400 && aboutTheKey ? 401 : status, code: code as string | undefined }
}

function said(body: string): { status?: unknown; reason?: unknown } {
  try {
    // A stream that fails before its first chunk returns a list with one error.
    const [first = {}] = [JSON.parse(body) as unknown].flat()
    const { status, details } = fieldsOf(fieldsOf(first)['error'])
    const reason = list(details, 32, 'details')
      .map((detail) => fieldsOf(detail)['reason'])
      .find(Boolean)
    return { status, reason }
  } catch {
    return {}
  }
}
