import type { ChatAnswer } from '../compose-chat.ts'
import { proofOf } from '../proof-of-thought.ts'
import { argumentsOf } from '../tool-arguments.ts'

/** The events of a stream, each with its name: content, ending and end marker. */
export interface MessageEvents {
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

export function eventOf(type: string, fields: object): string {
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
