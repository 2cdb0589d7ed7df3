import type { Dialect } from '../dialect.ts'
import { chatDialect } from '../chat-dialect.ts'
import { errorBody, traceHeaders } from '../provider-traces.ts'
import { type ChatAnswer, proofOf } from '../compose-chat.ts'

/** The Responses wire format. */
export const responsesDialect: Dialect = {
  headers: traceHeaders,
  errorBody,
  wrongRequest: chatDialect.wrongRequest,
  opening: '',
  garbage: 'event: response.output_text.delta\ndata: {"type":"response.output_text.del\n\n',
  errorEvent: (callId) =>
    eventOf('error', {
      code: 'server_error',
      message: `The simulated-provider failed for simulated-org-4711 (request req_sim${callId}).`,
      param: null,
      sequence_number: 0,
    }),
  aroundFiller: () => [
    'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"',
    '"}\n\n',
  ],
}

/** The events of a stream, each with its name: content and ending. Nothing marks the end. */
interface ResponseEvents {
  content: string[]
  ending: string[]
  marker: ''
}

/** The body of a response that isn't streamed. */
export function responsesBody(model: string, answer: ChatAnswer): string {
  const response = opened(model, answer)
  const status = statusOf(answer)
  const items = itemsOf(answer)
  return JSON.stringify(
    closed(
      response,
      answer,
      items.map(({ item }) => item(status)),
    ),
  )
}

export function responsesEvents(model: string, answer: ChatAnswer): ResponseEvents {
  let number = 0
  const event = (type: string, fields: object) => eventOf(type, { sequence_number: number++, ...fields })
  const response = opened(model, answer)
  const status = statusOf(answer)
  const items = itemsOf(answer)
  const content = [event('response.created', { response }), event('response.in_progress', { response })]
  items.forEach(({ empty, item, within }, at) => {
    content.push(event('response.output_item.added', { output_index: at, item: empty }))
    for (const [type, fields] of within)
      content.push(event(type, { item_id: empty['id'], output_index: at, ...fields }))
    content.push(event('response.output_item.done', { output_index: at, item: item(status) }))
  })
  const done = closed(
    response,
    answer,
    items.map(({ item }) => item(status)),
  )
  return { content, ending: [event(`response.${status}`, { response: done })], marker: '' }
}

function eventOf(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
}

type Status = 'completed' | 'incomplete'

function statusOf({ finish }: ChatAnswer): Status {
  return finish === 'length' || finish === 'content_filter' ? 'incomplete' : 'completed'
}

/** The response before its output. */
function opened(model: string, { random }: ChatAnswer) {
  return {
    id: `resp_sim${random.hex(24)}`,
    object: 'response',
    created_at: 1_770_000_000,
    status: 'in_progress',
    background: false,
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    model: `${model}-2026-08-06`,
    output: [] as object[],
    parallel_tool_calls: true,
    previous_response_id: null,
    service_tier: 'default',
    store: false,
    temperature: 1,
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    truncation: 'disabled',
    usage: null,
  }
}

function closed(response: object, answer: ChatAnswer, output: object[]): object {
  const { finish, usage } = answer
  const status = statusOf(answer)
  const reason = finish === 'length' ? 'max_output_tokens' : 'content_filter'
  return {
    ...response,
    status,
    ...(status === 'incomplete' && { incomplete_details: { reason } }),
    output,
    usage: usage && {
      input_tokens: usage.prompt,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: usage.completion,
      output_tokens_details: { reasoning_tokens: usage.reasoning },
      total_tokens: usage.prompt + usage.completion,
    },
  }
}

interface Item {
  /** When it is added. */
  empty: Record<string, unknown>
  /** When it is done. */
  item: (status: Status) => object
  /** The events in between, without the place of the item. */
  within: [type: string, fields: object][]
}

function itemsOf({ reasoning, content, toolCall, refusal, random }: ChatAnswer): Item[] {
  const items: Item[] = []
  const thoughtId = `rs_simthought${random.hex(24)}`
  if (reasoning.length > 0) items.push(thought(thoughtId, reasoning))
  if (content.length > 0 || refusal !== null) {
    const texts = refusal === null ? content : [refusal]
    items.push(message(`msg_sim${random.hex(24)}`, refusal === null ? 'text' : 'refusal', texts))
  }
  if (toolCall) items.push(call(toolCall, reasoning.length > 0 ? callIdAfter(thoughtId) : toolCall.id))
  return items
}

function thought(id: string, tokens: string[]): Item {
  const text = tokens.join('')
  const part = { summary_index: 0 }
  const done = { type: 'summary_text', text }
  return {
    empty: { id, type: 'reasoning', summary: [], encrypted_content: '' },
    item: () => ({ id, type: 'reasoning', summary: [done], encrypted_content: encryptedThought(id, text) }),
    within: [
      ['response.reasoning_summary_part.added', { ...part, part: { type: 'summary_text', text: '' } }],
      ...tokens.map((delta): [string, object] => ['response.reasoning_summary_text.delta', { ...part, delta }]),
      ['response.reasoning_summary_text.done', { ...part, text }],
      ['response.reasoning_summary_part.done', { ...part, part: done }],
    ],
  }
}

/** The encrypted content of a reasoning item. It belongs to the item and its summary. */
export function encryptedThought(id: string, summary: string): string {
  return `sim_encrypted${proofOf(id, summary)}`
}

/** Start of the IDs of tool calls that a reasoning item led to: none can come back without its item. */
export const thoughtful = 'call_thought'

export function callIdAfter(thoughtId: string): string {
  return `${thoughtful}${proofOf(thoughtId).slice(0, 20)}`
}

function message(id: string, kind: 'text' | 'refusal', tokens: string[]): Item {
  const place = { content_index: 0 }
  const said = tokens.join('')
  const part = (text: string): object =>
    kind === 'refusal'
      ? { type: 'refusal', refusal: text }
      : { type: 'output_text', text, annotations: [], logprobs: [] }
  const base = { id, type: 'message', role: 'assistant' }
  const name = kind === 'refusal' ? 'refusal' : 'output_text'
  const extra = kind === 'refusal' ? {} : { logprobs: [] }
  return {
    empty: { ...base, status: 'in_progress', content: [] },
    item: (status) => ({ ...base, status, content: [part(said)] }),
    within: [
      ['response.content_part.added', { ...place, part: part('') }],
      ...tokens.map((delta): [string, object] => [`response.${name}.delta`, { ...place, delta, ...extra }]),
      [`response.${name}.done`, { ...place, [kind]: said, ...extra }],
      ['response.content_part.done', { ...place, part: part(said) }],
    ],
  }
}

function call({ name, arguments: given, id: seed }: NonNullable<ChatAnswer['toolCall']>, callId: string): Item {
  const base = { id: seed.replace('call_', 'fc_sim'), type: 'function_call', call_id: callId, name }
  const json = given.join('')
  return {
    empty: { ...base, status: 'in_progress', arguments: '' },
    item: (status) => ({ ...base, status, arguments: json }),
    within: [
      ...given.map((delta): [string, object] => ['response.function_call_arguments.delta', { delta }]),
      ['response.function_call_arguments.done', { arguments: json }],
    ],
  }
}
