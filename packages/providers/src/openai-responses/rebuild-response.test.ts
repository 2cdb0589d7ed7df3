import type { Response } from 'openai/resources/responses/responses'
import { describe, expect, test } from 'vitest'
import { reasoningSeal } from './reasoning-item.ts'
import { ErrorInAnswer, UnfitAnswer } from '../untrusted.ts'
import { rebuildResponse } from './read-responses.ts'
import { functionCall, outputText, reasoning, response, usage } from './responses.fixture.ts'

const seal = reasoningSeal({ apiKey: 'sk-1', baseUrl: 'https://api.example.com/v1' })
const rebuild = (fields: Partial<Response>) => rebuildResponse(response(fields), seal)
const sealed = expect.stringMatching(/^[\w-]{40,}$/) as string

test('keeps only known fields and items of a response', () => {
  const search = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'x' } }
  const output = [
    reasoning(1, 'Hm', 'So'),
    outputText('I look.'),
    search as never,
    reasoning(2),
    functionCall('fc-of-acme', '{"q":[1]}'),
    reasoning(3, 'Lost'),
  ]
  const { choices, usage: counted } = rebuild({ output, usage })
  const id = expect.stringMatching(/^call_[0-9a-f]{24}$/) as string
  expect(choices).toEqual([
    {
      index: 0,
      message: {
        role: 'assistant',
        content: 'I look.',
        refusal: null,
        reasoning_content: 'Hm\n\nSo\n\nLost',
        reasoning_details: [
          { type: 'reasoning.encrypted', data: sealed },
          { type: 'reasoning.encrypted', data: sealed, id },
        ],
        tool_calls: [{ id, type: 'function', function: { name: 'look_up', arguments: '{"q":[1]}' } }],
      },
      logprobs: null,
      finish_reason: 'tool_calls',
    },
  ])
  expect(counted).toMatchObject({ promptTokens: 13, completionTokens: 7 })
  expect(JSON.stringify(choices)).not.toMatch(/secret|rs_|acme/)
})

test('has no detail for reasoning without encrypted content', () => {
  const { encrypted_content: _, ...plain } = reasoning(1, 'Hm')
  const { message } = rebuild({ output: [plain, outputText('So.')] }).choices[0]!
  expect(message).toMatchObject({ content: 'So.', reasoning_content: 'Hm' })
  expect(message).not.toHaveProperty('reasoning_details')
})

test('without text, content is null with tool calls or a refusal and empty otherwise', () => {
  const refused = { ...outputText(''), content: [{ type: 'refusal' as const, refusal: 'No.' }] }
  const messageOf = (output: Response['output']) => rebuild({ output }).choices[0]!.message
  expect(messageOf([functionCall('call_aaaaaaaa', '{}')]).content).toBeNull()
  expect(messageOf([refused])).toMatchObject({ content: null, refusal: 'No.' })
  expect(messageOf([])).toMatchObject({ content: '', refusal: null })
})

test('reads log probabilities', () => {
  const logprobs = [{ token: 'a', bytes: [97], logprob: -1, top_logprobs: [{ token: 'b', bytes: [98], logprob: -2 }] }]
  const part = { type: 'output_text' as const, text: 'a', annotations: [], logprobs }
  const { choices } = rebuild({ output: [{ ...outputText(''), content: [part] }] })
  expect(choices[0]?.logprobs).toEqual({ content: logprobs, refusal: null })
})

test.each([
  ['completed', null, 'stop'],
  ['incomplete', 'max_output_tokens', 'length'],
  ['incomplete', 'content_filter', 'content_filter'],
] as const)('maps the status %s with reason %s to %s', (status, reason, becomes) => {
  const { choices } = rebuild({ status, incomplete_details: reason && { reason }, output: [outputText('a')] })
  expect(choices[0]?.finish_reason).toBe(becomes)
})

test.each<[string, unknown]>([
  ['a list', []],
  ['a body without output', { object: 'response', status: 'completed' }],
  ['a response that continues', response({ status: 'in_progress' })],
  ['a text that is not a string', response({ output: [outputText({} as string)] })],
  ['a call without a name', response({ output: [{ ...functionCall('a', '{}'), name: 5 as never }] })],
  ['129 calls', response({ output: Array.from({ length: 129 }, () => functionCall('a', '{}')) })],
])('rejects %s', (_, body) => {
  expect(() => rebuildResponse(body, seal)).toThrow(UnfitAnswer)
})

test.each<[object, number | undefined]>([
  [response({ status: 'failed', error: { code: 'server_error', message: 'Acme' } }), 500],
  [response({ status: 'cancelled' }), undefined],
  [{ error: { code: 'rate_limit_exceeded', message: 'Acme' } }, 429],
])('throws the error of %j with status %s', (body, providerStatus) => {
  expect(() => rebuildResponse(body, seal)).toThrow(ErrorInAnswer)
  expect(() => rebuildResponse(body, seal)).toThrow(
    expect.objectContaining({ providerStatus, message: expect.not.stringContaining('Acme') as string }),
  )
})

describe('usage', () => {
  const counted = (given: unknown) => rebuild({ usage: given as never }).usage

  test('has the details that are reported', () => {
    expect(counted({ input_tokens: 3, output_tokens: 2 })).toEqual({
      promptTokens: 3,
      completionTokens: 2,
      details: {},
    })
    const details = { cached_tokens: null, cache_write_tokens: 1 }
    expect(counted({ input_tokens: 3, output_tokens: 2, input_tokens_details: details })?.details).toEqual({
      prompt_tokens_details: { cache_write_tokens: 1 },
    })
  })

  test.each([
    undefined,
    null,
    {},
    { input_tokens: 1 },
    { input_tokens: -1, output_tokens: 1 },
    { input_tokens: '1' },
    { input_tokens: 3, output_tokens: 2, input_tokens_details: { cached_tokens: -1 } },
    { input_tokens: 3, output_tokens: 2, output_tokens_details: { reasoning_tokens: 0.5 } },
  ])('is null for %j', (given) => expect(counted(given)).toBeNull())
})
