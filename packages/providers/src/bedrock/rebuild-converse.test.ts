import { describe, expect, test } from 'vitest'
import type { ChatChunk } from '../chat-port.ts'
import { reasoningSeal } from '../openai-responses/reasoning-item.ts'
import { ErrorInAnswer, UnfitAnswer } from '../untrusted.ts'
import { openConverseEvents, rebuildConverse } from './read-converse.ts'

// Shapes from https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html and
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html (ConverseStreamOutput,
// TokenUsage), compared with responses of Claude and Nova.

const seal = reasoningSeal({ apiKey: 'b-1', baseUrl: 'https://bedrock-runtime.us-east-1.amazonaws.com' })
const answered = (content: unknown, more: object = {}) => ({
  output: { message: { role: 'assistant', content } },
  stopReason: 'end_turn',
  usage: {
    inputTokens: 69,
    outputTokens: 59,
    totalTokens: 148,
    cacheReadInputTokens: 20,
    cacheReadInputTokenCount: 20,
  },
  metrics: { latencyMs: 47_329 },
  ...more,
})

test('keeps only known fields and blocks of a response', () => {
  const content = [
    { reasoningContent: { reasoningText: { text: 'Hm.', signature: 'secret' } } },
    { reasoningContent: { redactedContent: 'c2VjcmV0' } },
    { text: 'It is' },
    { citationsContent: { secret: 1 } },
    { text: ' so.' },
    { toolUse: { toolUseId: 'tooluse_abc', name: 'look_up', input: { q: [1] } } },
  ]
  const { choices, usage } = rebuildConverse(answered(content, { stopReason: 'tool_use', trace: { secret: 1 } }), seal)
  const sealed = expect.stringMatching(/^[\w-]{40,}$/) as string
  expect(choices).toEqual([
    {
      index: 0,
      message: {
        role: 'assistant',
        content: 'It is so.',
        refusal: null,
        reasoning_content: 'Hm.',
        reasoning_details: [
          { type: 'reasoning.text', text: 'Hm.', signature: sealed },
          { type: 'reasoning.encrypted', data: sealed },
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
  expect(usage).toEqual({
    promptTokens: 89,
    completionTokens: 59,
    details: { prompt_tokens_details: { cached_tokens: 20, cache_write_tokens: 0 } },
  })
})

test.each([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['max_tokens', 'length'],
  ['guardrail_intervened', 'content_filter'],
  ['content_filtered', 'content_filter'],
])('maps the stop reason %s to %s', (stopReason, becomes) => {
  expect(rebuildConverse(answered([{ text: 'a' }], { stopReason }), seal).choices[0]?.finish_reason).toBe(becomes)
})

test.each([
  [{}],
  [answered('text')],
  [answered([], { stopReason: null })],
  [answered([], { stopReason: 'malformed_tool_use' })],
  [null],
])('rejects %j', (body) => {
  expect(() => rebuildConverse(body, seal)).toThrow(UnfitAnswer)
})

test('returns null for invalid usage', () => {
  for (const usage of [undefined, {}, { inputTokens: 1 }, { inputTokens: 1, outputTokens: -1 }])
    expect(rebuildConverse(answered([{ text: 'a' }], { usage }), seal).usage).toBeNull()
})

describe('a stream', () => {
  function read(...events: object[]): (ChatChunk | 'end')[] {
    const next = openConverseEvents(seal)
    return events.map((event) => next(JSON.stringify(event))).filter((chunk) => chunk !== null)
  }
  const delta = (contentBlockIndex: number, given: object) => ({
    contentBlockDelta: { contentBlockIndex, delta: given },
  })
  const one = (given: object) => ({ choices: [{ index: 0, delta: given, finish_reason: null }], usage: null })
  const metadata = { metadata: { usage: { inputTokens: 100, outputTokens: 25, totalTokens: 125 }, metrics: {} } }

  test('yields text, reasoning and tool calls as they arrive, and usage after the end', () => {
    const chunks = read(
      { messageStart: { role: 'assistant' } },
      delta(0, { reasoningContent: { text: 'Hm' } }),
      delta(0, { reasoningContent: { signature: 'secret' } }),
      { contentBlockStop: { contentBlockIndex: 0 } },
      { contentBlockStart: { contentBlockIndex: 1, start: {} } },
      delta(1, { text: 'I look.' }),
      { contentBlockStart: { contentBlockIndex: 2, start: { toolUse: { toolUseId: 'tooluse_a', name: 'look_up' } } } },
      delta(2, { toolUse: { input: '' } }),
      { contentBlockStop: { contentBlockIndex: 2 } },
      { messageStop: { stopReason: 'tool_use' } },
      metadata,
    )
    const named = { name: 'look_up', arguments: '' }
    const id = expect.stringMatching(/^call_[0-9a-f]{24}$/) as string
    expect(chunks).toMatchObject([
      one({ role: 'assistant', reasoning_content: 'Hm' }),
      { choices: [{ delta: { reasoning_details: [{ type: 'reasoning.text', text: 'Hm' }] } }] },
      one({ content: 'I look.' }),
      one({ tool_calls: [{ index: 0, id, type: 'function', function: named }] }),
      one({ tool_calls: [{ index: 0, function: { arguments: '{}' } }] }),
      { choices: [{ delta: {}, finish_reason: 'tool_calls' }] },
      { choices: [], usage: { promptTokens: 100, completionTokens: 25 } },
    ])
    expect(JSON.stringify(chunks)).not.toMatch(/tooluse_|secret/)
  })

  test('may report usage before its end', () => {
    expect(read(metadata, { messageStop: { stopReason: 'end_turn' } })).toMatchObject([
      { usage: { promptTokens: 100 } },
      { choices: [{ finish_reason: 'stop' }] },
    ])
  })

  test.each([
    ['throttlingException', 429],
    ['modelStreamErrorException', 424],
    ['validationException', 400],
    ['somethingNewException', undefined],
  ])('throws on %s with status %s', (name, status) => {
    const failed = () => read({ [name]: { message: 'secret' } })
    expect(failed).toThrow(ErrorInAnswer)
    expect(failed).toThrow(expect.objectContaining({ providerStatus: status }) as Error)
  })

  test('ignores unknown events', () => {
    expect(read({ contentBlockHiccup: {} }, delta(0, { image: {} }))).toEqual([])
  })
})
