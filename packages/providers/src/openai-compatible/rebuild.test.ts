import { describe, expect, test } from 'vitest'
import { UnfitAnswer } from '../untrusted.ts'
import { rebuildChunk, rebuildCompletion, rebuildUsage } from './read-chat.ts'

const completion = (message: unknown, more: object = {}) => ({
  id: 'x',
  model: 'secret-model',
  choices: [{ index: 0, message, finish_reason: 'stop', ...more }],
})
const chunk = (delta: unknown, more: object = {}) => ({ choices: [{ index: 0, delta, finish_reason: null, ...more }] })

describe('a completion', () => {
  test('keeps only known fields', () => {
    const logprobs = {
      content: [{ token: 'a', logprob: -1, bytes: [97], top_logprobs: [{ token: 'a', logprob: -1, x: 1 }], x: 1 }],
    }
    const message = {
      role: 'robot',
      content: 'a',
      reasoning: 'b',
      reasoning_content: 'c',
      annotations: [1],
      provider_specific_fields: { x: 1 },
      tool_calls: [{ id: 'call_12345678', type: 'x', index: 4, x: 1, function: { name: 'f', arguments: '{}', x: 1 } }],
    }
    expect(rebuildCompletion(completion(message, { logprobs, native_finish_reason: 'x' }))).toEqual({
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'a',
            refusal: null,
            reasoning: 'b',
            reasoning_content: 'c',
            tool_calls: [{ id: 'call_12345678', type: 'function', function: { name: 'f', arguments: '{}' } }],
          },
          logprobs: {
            content: [
              { token: 'a', logprob: -1, bytes: [97], top_logprobs: [{ token: 'a', logprob: -1, bytes: null }] },
            ],
            refusal: null,
          },
          finish_reason: 'stop',
        },
      ],
      usage: null,
    })
  })

  test.each([
    ['end_turn', 'stop'],
    ['max_tokens', 'length'],
    ['model_length', 'length'],
    ['tool_use', 'tool_calls'],
    ['constructor', 'stop'],
    [null, 'stop'],
  ])('maps the finish reason %j to %s', (given, becomes) => {
    const { choices } = rebuildCompletion(completion({ content: '' }, { finish_reason: given }))
    expect(choices[0]?.finish_reason).toBe(becomes)
  })

  const part = (words: string) => ({ type: 'text', text: words })
  test.each<[string, unknown[], object]>([
    [
      'texts and thoughts, and ignores other parts',
      [
        { type: 'thinking', thinking: [part('H'), part('m'), { type: 'reference', reference_ids: [1] }] },
        part('Ni'),
        { type: 'reference', reference_ids: [1] },
        part('ne'),
      ],
      { content: 'Nine', reasoning_content: 'Hm' },
    ],
    ['a thought alone', [{ type: 'thinking', thinking: [part('Hm')] }], { content: null, reasoning_content: 'Hm' }],
    ['nothing', [], { content: null }],
  ])('reads a content that is a list of parts: %s', (_, content, said) => {
    const { choices } = rebuildCompletion(completion({ content }))
    expect(choices[0]?.message).toEqual({ role: 'assistant', refusal: null, ...said })
  })

  test.each([
    null,
    'text',
    [],
    {},
    { choices: {} },
    { choices: [null] },
    completion(null),
    completion({ content: 5 }),
    completion({ content: [{ type: 'text', text: 5 }] }),
    completion({ content: null, tool_calls: 'x' }),
    completion({ content: null, tool_calls: [{ function: { name: 'f', arguments: '{}' } }] }),
    completion({ content: null, tool_calls: [{ id: 'a', function: { name: 'f', arguments: {} } }] }),
    completion({
      content: null,
      tool_calls: Array.from({ length: 129 }, () => ({ id: 'a', function: { name: 'f' } })),
    }),
    completion({ content: '' }, { logprobs: { content: [{ token: 'a', logprob: 'x' }] } }),
  ])('rejects %j', (body) => expect(() => rebuildCompletion(body)).toThrow(UnfitAnswer))
})

describe('a chunk', () => {
  test('keeps only known fields', () => {
    const delta = {
      role: 'assistant',
      content: 'a',
      x: 1,
      reasoning_details: [1],
      tool_calls: [
        { index: 0, id: 'call_12345678', type: 'function', function: { name: 'f', arguments: '', x: 1 }, x: 1 },
      ],
    }
    expect(rebuildChunk({ ...chunk(delta), provider: 'x', usage: null })).toEqual({
      choices: [
        {
          index: 0,
          delta: {
            role: 'assistant',
            content: 'a',
            tool_calls: [{ index: 0, id: 'call_12345678', type: 'function', function: { name: 'f', arguments: '' } }],
          },
          finish_reason: null,
        },
      ],
      usage: null,
    })
  })

  test('is null if it has no content or is of another choice', () => {
    expect(rebuildChunk({ choices: [], prompt_filter_results: [] })).toBeNull()
    expect(rebuildChunk({ choices: [{ index: 1, delta: { content: 'a' } }] })).toBeNull()
  })

  test('numbers a tool call without an index by its position', () => {
    const rebuilt = rebuildChunk(chunk({ tool_calls: [{ id: 'aaaaaaaaa' }, { id: 'bbbbbbbbb' }] }))
    expect(rebuilt?.choices[0]?.delta.tool_calls).toEqual([
      { index: 0, id: 'aaaaaaaaa' },
      { index: 1, id: 'bbbbbbbbb' },
    ])
  })

  test.each([
    null,
    'text',
    { choices: 'x' },
    chunk({ content: 5 }),
    chunk({ tool_calls: [{ index: -1 }] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: 5 } }] }),
  ])('rejects %j', (event) => expect(() => rebuildChunk(event)).toThrow(UnfitAnswer))
})

describe('usage', () => {
  test('keeps only known counts', () => {
    expect(
      rebuildUsage({
        prompt_tokens: 3,
        completion_tokens: 4,
        total_tokens: 7,
        cost: 0.1,
        prompt_tokens_details: { cached_tokens: 1, cache_write_tokens: null, x: 1, audio_tokens: 'x' },
        completion_tokens_details: null,
      }),
    ).toEqual({ promptTokens: 3, completionTokens: 4, details: { prompt_tokens_details: { cached_tokens: 1 } } })
  })

  test.each([
    ['adds reasoning that the total counts next to the completion', 9, 135, 94, 103],
    ['keeps a completion that the total shows to include its reasoning', 103, 135, 94, 103],
    ['keeps a completion whose total is missing', 103, undefined, 94, 103],
    ['keeps a completion whose total is not a count', 9, '135', 94, 9],
    ['keeps a completion whose total fits neither form', 9, 136, 94, 9],
    ['keeps a completion without reasoning', 9, 41, 0, 9],
    ['keeps a completion whose reasoning is not counted', 9, 41, null, 9],
  ])('%s', (_, completion, total, reasoning, becomes) => {
    const usage = rebuildUsage({
      prompt_tokens: 32,
      completion_tokens: completion,
      total_tokens: total,
      prompt_tokens_details: { cached_tokens: 6 },
      completion_tokens_details: { reasoning_tokens: reasoning },
    })
    expect(usage).toEqual({
      promptTokens: 32,
      completionTokens: becomes,
      details: {
        prompt_tokens_details: { cached_tokens: 6 },
        completion_tokens_details: reasoning === null ? {} : { reasoning_tokens: reasoning },
      },
    })
  })

  test.each([
    null,
    5,
    {},
    { prompt_tokens: 1 },
    { prompt_tokens: -1, completion_tokens: 1 },
    { prompt_tokens: '1', completion_tokens: 1 },
    { prompt_tokens: 1.5, completion_tokens: 1 },
    { prompt_tokens: 1e300, completion_tokens: 1 },
    { prompt_tokens: 3, completion_tokens: 1, prompt_tokens_details: { cached_tokens: -1 } },
    { prompt_tokens: 3, completion_tokens: 1, prompt_tokens_details: { cache_write_tokens: 1.5 } },
    { prompt_tokens: 3, completion_tokens: 1, completion_tokens_details: { reasoning_tokens: '1' } },
  ])('is null for %j', (value) => expect(rebuildUsage(value)).toBeNull())
})
