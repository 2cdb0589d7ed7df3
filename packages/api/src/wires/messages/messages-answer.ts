import type {
  AnswerMessage,
  AnswerUsage,
  Delta,
  FinishReason,
  ReasoningDetail,
  ToolCallDelta,
} from '../../chat-answer.ts'
import { type ArgumentsEnd, findArgumentsEnd, opaqueOf, renamed, type Said, saysSomething } from '../fields.ts'
import type { AnswerEnd, AnswerFacts, AnswerWriter } from '../wire.ts'
import type { Refusal } from '../../refusal.ts'
import type { MessageErrorType } from './messages-shapes.ts'
import { nameOfField } from './read-messages.ts'

// Writes the answer of a model as a message of blocks: thinking, text and tool uses.
//   B1  Blocks are in order, and each is stopped before the next one starts. Texts and thoughts that come before the
//       arguments of a tool call are complete wait for the first one after that, or for the end. Tool calls that begin
//       so wait for the end. What comes for a call that was stopped is ignored.
//   B2  A thought ends with its signature, and may have no text. What a provider needs back in another form is a block
//       of redacted thinking.
//   B3  The usage comes at the end, because it is not known before. `end` may be called again with another charge.

export function messagesAnswer({ id, model }: AnswerFacts): AnswerWriter {
  const head = { id, type: 'message', role: 'assistant', model }
  let begun = false
  let finish: FinishReason | null = null
  let refused = false
  let blocks = 0
  /** The block that is being written. */
  let open: { kind: 'thinking' | 'text' } | { kind: 'call'; call: number; end: ArgumentsEnd } | null = null
  /** B1 */
  const waiting = new Map<number, { id: string; name: string; json: string }>()
  const held: Said[] = []
  const calls = new Set<number>()

  function event(type: string, fields: object): string {
    return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
  }

  function begin(): string {
    if (begun) return ''
    begun = true
    const message = { ...head, content: [], stop_reason: null, stop_sequence: null, usage: UNKNOWN_USAGE }
    return event('message_start', { message })
  }

  function stop(): string {
    if (open === null) return ''
    open = null
    return event('content_block_stop', { index: blocks - 1 })
  }

  function start(started: NonNullable<typeof open>, block: object): string {
    const stopped = stop()
    open = started
    return stopped + event('content_block_start', { index: blocks++, content_block: block })
  }

  /** Written from its parts, because a stream has one for each token. */
  const delta = (type: string, field: string, text: string) =>
    `event: content_block_delta\ndata: {"type":"content_block_delta","index":${blocks - 1},"delta":{"type":"${type}","${field}":${JSON.stringify(text)}}}\n\n`

  const startThought = () => start({ kind: 'thinking' }, { type: 'thinking', thinking: '', signature: '' })

  function thinks(words: string): string {
    if (words === '') return ''
    const started = open?.kind === 'thinking' ? '' : startThought()
    return started + delta('thinking_delta', 'thinking', words)
  }

  /** B2 */
  function seals(detail: ReasoningDetail): string {
    if (detail.type === 'reasoning.text') {
      const thought = open?.kind === 'thinking' ? '' : startThought() + thinks(detail.text)
      return thought + delta('signature_delta', 'signature', detail.signature) + stop()
    }
    const stopped = stop()
    const block = { type: 'redacted_thinking', data: opaqueOf(detail) }
    const index = blocks++
    return (
      stopped + event('content_block_start', { index, content_block: block }) + event('content_block_stop', { index })
    )
  }

  function says(words: string): string {
    if (words === '') return ''
    const started = open?.kind === 'text' ? '' : start({ kind: 'text' }, { type: 'text', text: '' })
    return started + delta('text_delta', 'text', words)
  }

  function startCall(index: number, callId: string, name: string): string {
    calls.add(index)
    const call = { kind: 'call' as const, call: index, end: findArgumentsEnd() }
    return start(call, { type: 'tool_use', id: callId, name, input: {} })
  }

  /** Of the open call. */
  function moreJson(json: string): string {
    if (json === '') return ''
    if (open?.kind === 'call') open.end.add(json)
    return delta('input_json_delta', 'partial_json', json)
  }

  function callsTool({ index, id: callId = '', function: called }: ToolCallDelta): string {
    const json = called?.arguments ?? ''
    if (open?.kind === 'call' && open.call === index) return moreJson(json)
    const waits = waiting.get(index)
    if (waits) {
      waits.json += json
      return ''
    }
    if (calls.has(index)) return '' // B1
    const name = called?.name ?? ''
    if (isMidCall()) {
      waiting.set(index, { id: callId, name, json }) // B1
      return ''
    }
    return startCall(index, callId, name) + moreJson(json)
  }

  function isMidCall(): boolean {
    return open?.kind === 'call' && !open.end.isReached()
  }

  function tells(given: Said): string {
    let events = thinks(given.reasoning_content ?? given.reasoning ?? '')
    for (const detail of given.reasoning_details ?? []) events += seals(detail)
    return events + says(given.content ?? '') + says(given.refusal ?? '')
  }

  function takes({ tool_calls: parts = [], ...said }: Delta): string {
    refused ||= Boolean(said.refusal)
    let events = ''
    if (saysSomething(said)) {
      if (isMidCall()) held.push(said) // B1
      else events = tellHeld() + tells(said)
    }
    for (const part of parts) events += callsTool(part)
    return events
  }

  const tellHeld = () => held.splice(0).map(tells).join('')

  function stopAll(): string {
    let events = tellHeld()
    for (const [index, { id: callId, name, json }] of waiting) events += startCall(index, callId, name) + moreJson(json)
    waiting.clear()
    return events + stop()
  }

  return {
    whole([choice], { usage, chargedMicro, service }) {
      const { refusal = null, tool_calls: calls = [] } = choice?.message ?? {}
      const facts = { refused: Boolean(refusal), hasCalls: calls.length > 0 }
      return JSON.stringify({
        ...head,
        content: choice === undefined ? [] : blocksOf(choice.message),
        stop_reason: stopReasonOf(choice?.finish_reason ?? 'stop', facts),
        stop_sequence: null,
        usage: usageOf(usage, chargedMicro),
        ...(service && { service }),
      })
    },
    chunk(choices) {
      let events = begin()
      for (const { delta: given, finish_reason: reason } of choices) {
        events += takes(given)
        if (reason === null || finish !== null) continue
        finish = reason
        events += stopAll()
      }
      return events
    },
    end({ usage, chargedMicro, service }: AnswerEnd) {
      const last = {
        delta: {
          stop_reason: stopReasonOf(finish ?? 'stop', { refused, hasCalls: calls.size > 0 }),
          stop_sequence: null,
        },
        usage: usageOf(usage, chargedMicro), // B3
        ...(service && { service }),
      }
      return event('message_delta', last) + event('message_stop', {})
    },
    broken: (refusal) => begin() + stopAll() + event('error', errorBodyOf(refusal)),
  }
}

const UNKNOWN_USAGE = { input_tokens: 0, output_tokens: 0 }

const STOP_REASONS: Record<FinishReason, string> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
}

/** A provider ends a call of a tool that was asked for by name with `stop`. Clients run tools only after `tool_use`. */
function stopReasonOf(finish: FinishReason, { refused, hasCalls }: { refused: boolean; hasCalls: boolean }): string {
  if (refused) return 'refusal'
  return STOP_REASONS[hasCalls && finish === 'stop' ? 'tool_calls' : finish]
}

/** Tokens read from a cache or written to one are not part of `input_tokens` on this wire. */
function usageOf({ promptTokens, completionTokens, details }: AnswerUsage, chargedMicro: number | null) {
  const { cached_tokens: read = 0, cache_write_tokens: written = 0 } = details?.prompt ?? {}
  return {
    input_tokens: Math.max(0, promptTokens - read - written),
    cache_read_input_tokens: read,
    cache_creation_input_tokens: written,
    output_tokens: completionTokens,
    ...(chargedMicro !== null && { cost: chargedMicro / 1_000_000, cost_micro: chargedMicro }),
  }
}

function blocksOf(message: AnswerMessage): object[] {
  const words = message.reasoning_content ?? message.reasoning ?? ''
  const details = message.reasoning_details ?? []
  const hasTexts = details.some(({ type }) => type === 'reasoning.text')
  const said = (message.content ?? '') + (message.refusal ?? '')
  return [
    ...(words !== '' && !hasTexts ? [{ type: 'thinking', thinking: words, signature: '' }] : []),
    ...details.map((detail) =>
      detail.type === 'reasoning.text'
        ? { type: 'thinking', thinking: detail.text, signature: detail.signature }
        : { type: 'redacted_thinking', data: opaqueOf(detail) },
    ),
    ...(said === '' ? [] : [{ type: 'text', text: said }]),
    ...(message.tool_calls ?? []).map(({ id, function: { name, arguments: json } }) => ({
      type: 'tool_use',
      id,
      name,
      input: inputOf(json),
    })),
  ]
}

/** The arguments of a model may not be an object. */
function inputOf(json: string): object {
  try {
    const value: unknown = JSON.parse(json.trim() === '' ? '{}' : json)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {
    // passed on below
  }
  return { input: json }
}

/** A refusal in the shape of this wire, with what it says beyond that. */
export function errorBodyOf(refusal: Refusal): object {
  const { type: _, ...said } = renamed(refusal, nameOfField).body
  return { type: 'error', error: { type: typeOf(refusal), ...said } }
}

const TYPES: Record<number, MessageErrorType> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
}

function typeOf({ status, code }: Refusal): MessageErrorType {
  if (code === 'overloaded') return 'overloaded_error'
  return TYPES[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error')
}
