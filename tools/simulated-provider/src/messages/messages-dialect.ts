import type { Dialect } from '../dialect.ts'
import { type ChatAnswer, proofOf } from '../compose-chat.ts'
import { argumentsOf } from '../fit-schema.ts'

/** The Messages wire format. */
export const messagesDialect: Dialect = {
  headers: (callId) => ({
    server: 'simulated-provider/1.0',
    'request-id': `req_sim${callId}`,
    'anthropic-organization-id': 'simulated-org-4711',
    'anthropic-ratelimit-requests-remaining': '9999',
    'set-cookie': 'sim_cookie=1; path=/',
  }),
  errorBody,
  wrongRequest: (message) => ({ type: 'error', error: { type: 'invalid_request_error', message } }),
  opening: '',
  garbage: 'event: content_block_delta\ndata: {"type":"content_block_de\n\n',
  errorEvent: (callId) => eventOf('error', errorBody(529, callId)),
  aroundFiller: () => [
    'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"',
    '"}}\n\n',
  ],
}

const typeOfStatus: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
}

function errorBody(status: number, callId: string): object {
  const type = typeOfStatus[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error')
  const message = `The simulated-provider answered ${status} to simulated-org-4711.`
  return { type: 'error', error: { type, message }, request_id: `req_sim${callId}` }
}

/** The events of a stream, each with its name: content, ending and end marker. */
interface MessageEvents {
  content: string[]
  ending: string[]
  marker: string
}

/** The body of a response that isn't streamed. */
export function messageBody(model: string, answer: ChatAnswer): string {
  const { usage } = answer
  const message = opened(model, answer)
  const content = blocksOf(answer).map(({ start, text }) => start(text))
  return JSON.stringify({
    ...message,
    content,
    ...endOf(answer),
    ...(usage && { usage: { ...message.usage, output_tokens: usage.completion } }),
  })
}

export function messageEvents(model: string, answer: ChatAnswer): MessageEvents {
  const content = [eventOf('message_start', { message: opened(model, answer) }), eventOf('ping', {})]
  blocksOf(answer).forEach(({ start, deltas }, index) => {
    content.push(eventOf('content_block_start', { index, content_block: start('') }))
    for (const delta of deltas) content.push(eventOf('content_block_delta', { index, delta }))
    content.push(eventOf('content_block_stop', { index }))
  })
  const { usage } = answer
  const counted = usage && { usage: { output_tokens: usage.completion } }
  const ending = [eventOf('message_delta', { delta: endOf(answer), ...counted })]
  return { content, ending, marker: eventOf('message_stop', {}) }
}

function eventOf(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
}

/** The message before its content. Part of the prompt was read from the cache, and part written to it. */
function opened(model: string, { random, usage }: ChatAnswer) {
  const [read, written] = [Math.floor((usage?.prompt ?? 0) / 4), Math.floor((usage?.prompt ?? 0) / 8)]
  return {
    id: `msg_sim${random.hex(20)}`,
    type: 'message',
    role: 'assistant',
    model: `${model}-2026-08-06`,
    content: [] as object[],
    stop_reason: null,
    stop_sequence: null,
    ...(usage && {
      usage: {
        input_tokens: usage.prompt - read - written,
        cache_creation_input_tokens: written,
        cache_read_input_tokens: read,
        output_tokens: 1,
        service_tier: 'standard',
      },
    }),
  }
}

interface Block {
  /** The block with this start of its text. */
  start: (text: string) => object
  text: string
  deltas: object[]
}

function blocksOf({ reasoning, content, toolCall }: ChatAnswer): Block[] {
  const blocks: Block[] = []
  if (reasoning.length > 0) {
    const signature = signatureOf(reasoning.join(''))
    blocks.push({
      start: (thinking) => ({ type: 'thinking', thinking, signature: thinking === '' ? '' : signature }),
      text: reasoning.join(''),
      deltas: [
        ...reasoning.map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature },
      ],
    })
  }
  if (content.length > 0)
    blocks.push({
      start: (text) => ({ type: 'text', text }),
      text: content.join(''),
      deltas: content.map((text) => ({ type: 'text_delta', text })),
    })
  if (toolCall) {
    const { id, name, arguments: given } = toolCall
    blocks.push({
      start: (text) => ({ type: 'tool_use', id: id.replace('call', 'toolu'), name, input: argumentsOf(text) }),
      text: given.join(''),
      deltas: given.map((partial) => ({ type: 'input_json_delta', partial_json: partial })),
    })
  }
  return blocks
}

/** The signature of a thinking block. */
export function signatureOf(thinking: string): string {
  return `sim_signature${proofOf(thinking)}`
}

const stopReasons = { stop: 'end_turn', length: 'max_tokens', tool_calls: 'tool_use', content_filter: 'refusal' }

function endOf({ finish, stoppedAt }: ChatAnswer): object {
  if (finish === 'content_filter')
    return {
      stop_reason: 'refusal',
      stop_sequence: null,
      stop_details: { type: 'refusal', category: null, explanation: 'The policy of simulated-org-4711 forbids it.' },
    }
  if (stoppedAt !== null) return { stop_reason: 'stop_sequence', stop_sequence: stoppedAt }
  return { stop_reason: stopReasons[finish], stop_sequence: null }
}
