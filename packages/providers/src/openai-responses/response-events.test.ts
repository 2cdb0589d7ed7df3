import type { ResponseStreamEvent } from 'openai/resources/responses/responses'
import { describe, expect, test } from 'vitest'
import type { ChatChunk } from '../chat-port.ts'
import { reasoningSeal, openedItem } from './reasoning-item.ts'
import { ErrorInAnswer, UnfitAnswer } from '../untrusted.ts'
import { openResponseEvents } from './read-responses.ts'
import { functionCall, outputText, reasoning, response, usage } from './responses.fixture.ts'

const seal = reasoningSeal({ apiKey: 'sk-1', baseUrl: 'https://api.example.com/v1' })

type Event<Type extends ResponseStreamEvent['type']> = Omit<
  Extract<ResponseStreamEvent, { type: Type }>,
  'type' | 'sequence_number'
>

/** An event of the documentation, held to its type in OpenAI's SDK. */
const event = <Type extends ResponseStreamEvent['type']>(type: Type, fields: Event<Type>) => ({
  type,
  sequence_number: 0,
  ...fields,
})

const place = (at: number) => ({ item_id: `item_${at}`, output_index: at })
const part = { type: 'output_text' as const, text: '', annotations: [], logprobs: [] }
const opened = [
  event('response.created', { response: response({ status: 'in_progress' }) }),
  event('response.in_progress', { response: response({ status: 'in_progress' }) }),
]
const says = (at: number, ...words: string[]) => [
  event('response.output_item.added', { output_index: at, item: outputText('', 'in_progress') }),
  event('response.content_part.added', { ...place(at), content_index: 0, part }),
  ...words.map((delta) => event('response.output_text.delta', { ...place(at), content_index: 0, delta, logprobs: [] })),
  event('response.output_text.done', { ...place(at), content_index: 0, text: words.join(''), logprobs: [] }),
  event('response.content_part.done', { ...place(at), content_index: 0, part: { ...part, text: words.join('') } }),
  event('response.output_item.done', { output_index: at, item: outputText(words.join('')) }),
]
const calls = (at: number, id: string, ...json: string[]) => [
  event('response.output_item.added', { output_index: at, item: functionCall(id, '') }),
  ...json.map((delta) => event('response.function_call_arguments.delta', { ...place(at), delta })),
  event('response.function_call_arguments.done', { ...place(at), arguments: json.join('') }),
  event('response.output_item.done', { output_index: at, item: functionCall(id, json.join('')) }),
]
const thinks = (at: number, ...parts: string[]) => [
  event('response.output_item.added', { output_index: at, item: reasoning(at) }),
  ...parts.flatMap((text, n) => [
    event('response.reasoning_summary_part.added', {
      ...place(at),
      summary_index: n,
      part: { type: 'summary_text', text: '' },
    }),
    event('response.reasoning_summary_text.delta', { ...place(at), summary_index: n, delta: text }),
    event('response.reasoning_summary_text.done', { ...place(at), summary_index: n, text }),
    event('response.reasoning_summary_part.done', {
      ...place(at),
      summary_index: n,
      part: { type: 'summary_text', text },
    }),
  ]),
  event('response.output_item.done', { output_index: at, item: reasoning(at, ...parts) }),
]
const completed = event('response.completed', { response: response({ status: 'completed', usage }) })

/** Returns the chunks of a stream of these events. */
function read(...events: object[]): (ChatChunk | 'end')[] {
  const next = openResponseEvents(seal)
  return events.map((each) => next(JSON.stringify(each))).filter((chunk) => chunk !== null)
}

const one = (given: object, more: object = {}) => ({
  choices: [{ index: 0, delta: given, finish_reason: null, ...more }],
  usage: null,
})
const named = (index: number, id: string) => ({
  tool_calls: [{ index, id, type: 'function', function: { name: 'look_up', arguments: '' } }],
})
const given = (index: number, json: string) => ({ tool_calls: [{ index, function: { arguments: json } }] })
const detail = { type: 'reasoning.encrypted', data: expect.stringMatching(/^[\w-]{40,}$/) as string }

test('reads text once, with the role on the first chunk and usage on the last', () => {
  expect(read(...opened, ...says(0, '', 'Hel', 'lo'), completed)).toEqual([
    one({ role: 'assistant', content: 'Hel' }),
    one({ content: 'lo' }),
    {
      choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
      usage: {
        promptTokens: 13,
        completionTokens: 7,
        details: {
          prompt_tokens_details: { cached_tokens: 3, cache_write_tokens: 2 },
          completion_tokens_details: { reasoning_tokens: 4 },
        },
      },
    },
  ])
  expect(openResponseEvents(seal)('[DONE]')).toBe('end')
})

test('passes each reasoning item on with the call or text it led to', () => {
  const chunks = read(
    ...opened,
    ...thinks(0, 'Hm', 'So'),
    ...calls(1, 'call_aaaaaaaa', '{"q"', ':1}'),
    ...thinks(2, 'And'),
    ...calls(3, 'call_bbbbbbbb'),
    ...thinks(4),
    ...says(5, 'done'),
    completed,
  )
  expect(chunks.slice(0, -1)).toEqual([
    one({ role: 'assistant', reasoning_content: 'Hm' }),
    one({ reasoning_content: '\n\n' }),
    one({ reasoning_content: 'So' }),
    one({ ...named(0, 'call_aaaaaaaa'), reasoning_details: [{ ...detail, id: 'call_aaaaaaaa' }] }),
    one(given(0, '{"q"')),
    one(given(0, ':1}')),
    one({ reasoning_content: '\n\n' }),
    one({ reasoning_content: 'And' }),
    one({ ...named(1, 'call_bbbbbbbb'), reasoning_details: [{ ...detail, id: 'call_bbbbbbbb' }] }),
    one(given(1, '{}')),
    one({ reasoning_details: [detail] }),
    one({ content: 'done' }),
  ])
  expect(chunks.at(-1)).toMatchObject({ choices: [{ finish_reason: 'tool_calls' }] })
  expect(JSON.stringify(chunks)).not.toMatch(/secret|"rs_/)
  const details = (chunks as ChatChunk[]).flatMap(({ choices }) => choices[0]!.delta.reasoning_details ?? [])
  const items = details.map((each) => each.type === 'reasoning.encrypted' && openedItem(each, seal))
  expect(items).toEqual([reasoning(0, 'Hm', 'So'), reasoning(2, 'And'), reasoning(4)])
})

test('drops a reasoning item that nothing follows', () => {
  const cut = response({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } })
  expect(read(...opened, ...thinks(0, 'Hm'), event('response.incomplete', { response: cut }))).toEqual([
    one({ role: 'assistant', reasoning_content: 'Hm' }),
    { choices: [{ index: 0, delta: {}, finish_reason: 'length' }], usage: null },
  ])
})

test('reads reasoning shown by open models, a refusal, and arguments that arrive whole', () => {
  const filtered = response({ status: 'incomplete', incomplete_details: { reason: 'content_filter' } })
  expect(
    read(
      event('response.reasoning_text.delta', { ...place(0), content_index: 0, delta: 'Hm' }),
      event('response.output_item.added', { output_index: 1, item: functionCall('call_aaaaaaaa', '') }),
      event('response.output_item.done', { output_index: 1, item: functionCall('call_aaaaaaaa', '{"q":1}') }),
      event('response.refusal.delta', { ...place(2), content_index: 0, delta: 'No.' }),
      event('response.incomplete', { response: filtered }),
    ),
  ).toEqual([
    one({ role: 'assistant', reasoning_content: 'Hm' }),
    one(named(0, 'call_aaaaaaaa')),
    one(given(0, '{"q":1}')),
    one({ refusal: 'No.' }),
    { choices: [{ index: 0, delta: {}, finish_reason: 'content_filter' }], usage: null },
  ])
})

test('reads log probabilities with the text they belong to', () => {
  const logprobs = [{ token: 'a', logprob: -1, top_logprobs: [{ token: 'b', logprob: -2 }] }]
  expect(
    read(event('response.output_text.delta', { ...place(0), content_index: 0, delta: 'a', logprobs })),
  ).toMatchObject([{ choices: [{ logprobs: { content: [{ token: 'a', logprob: -1 }], refusal: null } }] }])
})

test('ignores events and items of an unknown type', () => {
  const item = { type: 'web_search_call', id: 'ws_1', status: 'completed' }
  const more = { output_index: 0, item, delta: 'secret' }
  for (const type of ['response.output_item.added', 'response.output_item.done', 'response.hiccup', 'ping'])
    expect(read({ type, ...more })).toEqual([])
})

describe('an error', () => {
  const failed = (code: string) => ({
    type: 'response.failed',
    response: { status: 'failed', error: { code, message: 'secret' } },
  })
  test.each<[object, number | undefined]>([
    [event('error', { code: 'rate_limit_exceeded', message: 'secret', param: null }), 429],
    [{ type: 'error', error: { code: 'server_error', message: 'secret' } }, 500],
    [failed('server_error'), 500],
    [failed('invalid_prompt'), 400],
    [failed('image_too_large'), 400],
    [failed('something_new'), undefined],
    [{ type: 'response.failed', response: null }, undefined],
    [{ error: { code: 503 } }, 503],
  ])('%j is thrown with status %s', (given, providerStatus) => {
    expect(() => read(...opened, given)).toThrow(ErrorInAnswer)
    expect(() => read(given)).toThrow(expect.objectContaining({ providerStatus }))
    expect(() => read(given)).not.toThrow('secret')
  })
})

test.each<[string, object]>([
  ['a text that is not a string', { type: 'response.output_text.delta', delta: 5 }],
  ['a call without an id', { type: 'response.output_item.added', item: { type: 'function_call', name: 'f' } }],
  ['arguments without a call', { type: 'response.function_call_arguments.delta', output_index: 4, delta: '{}' }],
  ['a summary that is not a list', { type: 'response.output_item.done', item: { ...reasoning(1), summary: 'Hm' } }],
  ['a last event of a response that continues', { type: 'response.completed', response: { status: 'in_progress' } }],
])('rejects %s', (_, given) => {
  expect(() => read(given)).toThrow(UnfitAnswer)
})

test('rejects more than 128 tool calls, and invalid JSON', () => {
  const many = Array.from({ length: 129 }, (_, at) => calls(at, `call_${at}`)[0]!)
  expect(() => read(...many)).toThrow(UnfitAnswer)
  expect(() => openResponseEvents(seal)('{"type":')).toThrow(UnfitAnswer)
})
