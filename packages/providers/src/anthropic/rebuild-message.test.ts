import { describe, expect, test } from 'vitest'
import { ErrorInAnswer, UnfitAnswer } from '../untrusted.ts'
import { reasoningSeal } from '../openai-responses/reasoning-item.ts'
import { messagesWire } from './messages-wire.ts'
import { rebuildMessage as rebuildSealed, rebuildUsage } from './read-messages.ts'

const place = { apiKey: 'sk-1', baseUrl: 'https://api.example.com/v1' }
const seal = reasoningSeal(place)
const rebuildMessage = (body: unknown) => rebuildSealed(body, seal)

const message = (content: unknown, more: object = {}) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'secret-model',
  content,
  stop_reason: 'end_turn',
  ...more,
})

const sealed = expect.stringMatching(/^[\w-]{40,}$/) as string

test('keeps only known fields and blocks of a message', () => {
  const content = [
    { type: 'thinking', thinking: 'Hm. ', signature: 'secret' },
    { type: 'redacted_thinking', data: 'secret' },
    { type: 'text', text: 'It is', citations: [{ secret: 1 }] },
    { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
    { type: 'text', text: ' so.' },
    { type: 'tool_use', id: 'toolu_01', name: 'look_up', input: { q: [1] }, caller: { type: 'direct' } },
    { type: 'thinking', thinking: 'Yes.', signature: 'secret' },
  ]
  const { choices, usage } = rebuildMessage(message(content, { stop_reason: 'tool_use', container: { id: 'secret' } }))
  expect(usage).toBeNull()
  expect(choices).toEqual([
    {
      index: 0,
      message: {
        role: 'assistant',
        content: 'It is so.',
        refusal: null,
        reasoning_content: 'Hm. Yes.',
        reasoning_details: [
          { type: 'reasoning.text', text: 'Hm. ', signature: sealed },
          { type: 'reasoning.encrypted', data: sealed },
          { type: 'reasoning.text', text: 'Yes.', signature: sealed },
        ],
        tool_calls: [
          {
            id: expect.stringMatching(/^call_[0-9a-f]{24}$/) as string,
            type: 'function',
            function: { name: 'look_up', arguments: '{"q":[1]}' },
          },
        ],
      },
      logprobs: null,
      finish_reason: 'tool_calls',
    },
  ])
})

test('seals signatures so that they open for the same provider', () => {
  const content = [
    { type: 'thinking', thinking: 'Hm.', signature: 'signed' },
    { type: 'redacted_thinking', data: 'blob' },
    { type: 'thinking', thinking: 'Not signed', signature: '' },
  ]
  const [text, encrypted, ...others] = rebuildMessage(message(content)).choices[0]!.message.reasoning_details ?? []
  expect(text?.type === 'reasoning.text' && seal.open(text.signature, 'Hm.')).toBe('signed')
  expect(encrypted?.type === 'reasoning.encrypted' && seal.open(encrypted.data, '')).toBe('blob')
  expect(others).toEqual([])
})

test('without text, content is null with tool calls and empty otherwise', () => {
  const use = { type: 'tool_use', id: 'toolu_01', name: 'f', input: {} }
  expect(rebuildMessage(message([use])).choices[0]?.message.content).toBeNull()
  expect(rebuildMessage(message([])).choices[0]?.message.content).toBe('')
})

test.each([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['pause_turn', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
  ['constructor', 'stop'],
  [null, 'stop'],
])('maps the stop reason %j to %s', (given, becomes) => {
  const details = { stop_details: { type: 'refusal', explanation: 'the policy of Acme' } }
  const { choices } = rebuildMessage(message([{ type: 'text', text: 'a' }], { stop_reason: given, ...details }))
  expect(choices[0]?.finish_reason).toBe(becomes)
  expect(JSON.stringify(choices)).not.toContain('Acme')
})

test.each([
  ['a list', []],
  ['another type', { ...message([]), type: 'completion' }],
  ['no content', message(undefined)],
  ['content that is a string', message('hello')],
  ['a block that is not an object', message([[]])],
  ['a text that is not a string', message([{ type: 'text', text: {} }])],
  ['a call without a name', message([{ type: 'tool_use', id: 'a', input: {} }])],
  ['129 calls', message(Array.from({ length: 129 }, () => ({ type: 'tool_use', id: 'a', name: 'f', input: {} })))],
])('rejects %s', (_, body) => {
  expect(() => rebuildMessage(body)).toThrow(UnfitAnswer)
})

test.each([
  ['overloaded_error', 529],
  ['rate_limit_error', 429],
  ['invalid_request_error', 400],
  ['api_error', 500],
  ['something_new', undefined],
])('maps an error body of type %s to status %s', (type, providerStatus) => {
  const read = () => messagesWire(place).readCompletion({ type: 'error', error: { type, message: 'Acme says' } })
  expect(read).toThrow(ErrorInAnswer)
  expect(read).toThrow(
    expect.objectContaining({ providerStatus, message: expect.not.stringContaining('Acme') as string }),
  )
})

describe('usage', () => {
  test('counts cache reads and writes as prompt tokens', () => {
    const given = {
      input_tokens: 10,
      cache_read_input_tokens: 100,
      cache_creation_input_tokens: 5,
      output_tokens: 7,
      output_tokens_details: { thinking_tokens: 3 },
      service_tier: 'secret',
    }
    expect(rebuildUsage(given)).toEqual({
      promptTokens: 115,
      completionTokens: 7,
      details: {
        prompt_tokens_details: { cached_tokens: 100, cache_write_tokens: 5 },
        completion_tokens_details: { reasoning_tokens: 3 },
      },
    })
    expect(rebuildUsage({ input_tokens: 10, cache_read_input_tokens: null, output_tokens: 7 })).toMatchObject({
      promptTokens: 10,
      completionTokens: 7,
    })
  })

  test.each([
    undefined,
    null,
    {},
    { input_tokens: 1 },
    { output_tokens: 1 },
    { input_tokens: -1, output_tokens: 1 },
    { input_tokens: 1.5, output_tokens: 1 },
    { input_tokens: '1', output_tokens: 1 },
    { input_tokens: 1, output_tokens: 1, cache_read_input_tokens: -1 },
    { input_tokens: 1, output_tokens: 1, cache_creation_input_tokens: '7' },
    { input_tokens: 1, output_tokens: 1, output_tokens_details: { thinking_tokens: -1 } },
  ])('is null for %j', (given) => expect(rebuildUsage(given)).toBeNull())
})
