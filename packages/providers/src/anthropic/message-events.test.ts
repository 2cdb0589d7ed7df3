import { describe, expect, test } from 'vitest'
import type { ChatChunk } from '../chat-port.ts'
import { ErrorInAnswer, UnfitAnswer } from '../untrusted.ts'
import { reasoningSeal } from '../openai-responses/reasoning-item.ts'
import { openMessageEvents } from './read-messages.ts'

const seal = reasoningSeal({ apiKey: 'sk-1', baseUrl: 'https://api.example.com/v1' })

const start = (usage: object = { input_tokens: 10, cache_read_input_tokens: 3, output_tokens: 1 }) => ({
  type: 'message_start',
  message: { id: 'msg_1', model: 'secret-model', content: [], usage },
})
const block = (index: number, content: object) => ({ type: 'content_block_start', index, content_block: content })
const delta = (index: number, given: object) => ({ type: 'content_block_delta', index, delta: given })
const said = (index: number, text: string) => delta(index, { type: 'text_delta', text })
const json = (index: number, partial: string) => delta(index, { type: 'input_json_delta', partial_json: partial })
const stop = (index: number) => ({ type: 'content_block_stop', index })
const end = (reason: string | null, usage?: object) => ({
  type: 'message_delta',
  delta: { stop_reason: reason },
  ...(usage && { usage }),
})

/** Returns the chunks of a stream of these events. */
function read(...events: object[]): (ChatChunk | 'end')[] {
  const next = openMessageEvents(seal)
  return events.map((event) => next(JSON.stringify(event))).filter((chunk) => chunk !== null)
}

const one = (given: object, more: object = {}) => ({
  choices: [{ index: 0, delta: given, finish_reason: null, ...more }],
  usage: null,
})
const use = (id: string) => ({ type: 'tool_use', id, name: 'look_up', input: {} })
const idOfA = expect.stringMatching(/^call_[0-9a-f]{24}$/) as string

test('reads text, with the role on the first chunk and usage on the last', () => {
  expect(
    read(
      start(),
      { type: 'ping' },
      block(0, { type: 'text', text: '' }),
      said(0, ''),
      said(0, 'Hel'),
      said(0, 'lo'),
      stop(0),
      end('end_turn', { output_tokens: 7 }),
      { type: 'message_stop' },
    ),
  ).toEqual([
    one({ role: 'assistant', content: 'Hel' }),
    one({ content: 'lo' }),
    {
      choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
      usage: {
        promptTokens: 13,
        completionTokens: 7,
        details: { prompt_tokens_details: { cached_tokens: 3, cache_write_tokens: 0 } },
      },
    },
    'end',
  ])
})

test('reads thinking, and numbers tool calls without counting other blocks', () => {
  const chunks = read(
    start(),
    block(0, { type: 'thinking', thinking: '', signature: '' }),
    delta(0, { type: 'thinking_delta', thinking: 'Hm' }),
    delta(0, { type: 'signature_delta', signature: 'secret' }),
    stop(0),
    block(1, use('toolu_a')),
    json(1, ''),
    json(1, '{"q"'),
    json(1, ':1}'),
    stop(1),
    block(2, { type: 'text', text: 'and' }),
    stop(2),
    block(3, use('toolu_b')),
    stop(3),
    end('tool_use', { output_tokens: 7 }),
  )
  const named = (index: number) => ({
    tool_calls: [{ index, id: idOfA, type: 'function', function: { name: 'look_up', arguments: '' } }],
  })
  const given = (index: number, more: string) => ({ tool_calls: [{ index, function: { arguments: more } }] })
  expect(chunks.slice(0, -1)).toEqual([
    one({ role: 'assistant', reasoning_content: 'Hm' }),
    one({ reasoning_details: [{ type: 'reasoning.text', text: 'Hm', signature: expect.any(String) as string }] }),
    one(named(0)),
    one(given(0, '{"q"')),
    one(given(0, ':1}')),
    one({ content: 'and' }),
    one(named(1)),
    one(given(1, '{}')),
  ])
  expect(JSON.stringify(chunks)).not.toMatch(/toolu_|secret/)
})

test('puts the role on the final chunk of a response without text', () => {
  expect(read(start(), end('refusal', { output_tokens: 1 }))).toMatchObject([
    { choices: [{ delta: { role: 'assistant' }, finish_reason: 'content_filter' }] },
  ])
})

describe('usage', () => {
  const counted = (...ends: object[]) => (read(start(), ...ends) as ChatChunk[]).map(({ usage }) => usage)

  test('is taken from the final event, including the prompt if counted again there', () => {
    const [usage] = counted(end('end_turn', { input_tokens: 20, cache_read_input_tokens: null, output_tokens: 7 }))
    expect(usage).toMatchObject({ promptTokens: 23, completionTokens: 7 })
  })

  test('is null if the final event has none, because the first event has a placeholder', () => {
    expect(counted(end('end_turn'))).toEqual([null])
    expect((read(end('end_turn', { output_tokens: 7 })) as ChatChunk[])[0]?.usage).toBeNull()
  })

  test('may arrive before or after the stop reason', () => {
    expect(counted(end(null, { output_tokens: 3 }), end('end_turn'))).toMatchObject([{ completionTokens: 3 }])
    expect(counted(end('end_turn'), end(null, { output_tokens: 9 }))).toMatchObject([null, { completionTokens: 9 }])
  })
})

test.each(['content_block_start', 'content_block_delta', 'message_hiccup'])('ignores %s of an unknown kind', (type) => {
  expect(read({ type, index: 0, content_block: { type: 'new' }, delta: { type: 'new' } })).toEqual([])
})

test('throws an error event with the status of its type', () => {
  const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'secret' } }
  expect(() => read(start(), overloaded)).toThrow(ErrorInAnswer)
  expect(() => read(start(), overloaded)).toThrow(expect.objectContaining({ providerStatus: 529 }))
})

test.each([
  ['a text that is not a string', said(0, 5 as never)],
  ['a call without an id', block(0, { type: 'tool_use', name: 'f' })],
  ['arguments without a call', json(4, '{}')],
])('rejects %s', (_, event) => {
  expect(() => read(start(), event)).toThrow(UnfitAnswer)
})

test('rejects more than 128 tool calls, and invalid JSON', () => {
  const calls = Array.from({ length: 129 }, (_, index) => block(index, use(`toolu_${index}`)))
  expect(() => read(start(), ...calls)).toThrow(UnfitAnswer)
  expect(() => openMessageEvents(seal)('{"type":')).toThrow(UnfitAnswer)
})
