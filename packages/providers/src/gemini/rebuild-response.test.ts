import { describe, expect, test } from 'vitest'
import type { ChatChunk } from '../chat-port.ts'
import { reasoningSeal } from '../openai-responses/reasoning-item.ts'
import { ErrorInAnswer, UnfitAnswer } from '../untrusted.ts'
import { geminiWire } from './gemini-wire.ts'
import { readGeminiError } from './read-generate.ts'

// Shapes from https://ai.google.dev/api/generate-content (GenerateContentResponse, UsageMetadata, FinishReason),
// compared with responses of gemini-2.5-flash and gemini-3-pro-preview.

const place = { apiKey: 'g-1', baseUrl: 'https://api.example.com/v1beta' }
const wire = geminiWire(place)
const seal = reasoningSeal(place)
const answered = (parts: object[], more: object = {}) => ({
  candidates: [{ content: { parts, role: 'model' }, finishReason: 'STOP', index: 0, avgLogprobs: -0.1, ...more }],
  usageMetadata: {
    promptTokenCount: 29,
    candidatesTokenCount: 15,
    thoughtsTokenCount: 1801,
    cachedContentTokenCount: 4,
    totalTokenCount: 1845,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: 29 }],
  },
  modelVersion: 'secret-model',
  responseId: 'secret-id',
})
const choiceOf = (body: object) => wire.readCompletion(body).choices[0]!

test('keeps only known fields and parts of a response', () => {
  const body = answered([{ text: 'Hm.', thought: true }, { text: 'It is' }, { executableCode: {} }, { text: ' so.' }])
  expect(wire.readCompletion(body)).toEqual({
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'It is so.', refusal: null, reasoning_content: 'Hm.' },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: {
      promptTokens: 29,
      completionTokens: 1816,
      details: {
        prompt_tokens_details: { cached_tokens: 4 },
        completion_tokens_details: { reasoning_tokens: 1801 },
      },
    },
  })
})

test('gives a tool call an ID if it has none, and keeps its signature', () => {
  const call = { functionCall: { name: 'forecast', args: { location: 'Bergen' } }, thoughtSignature: 'signed' }
  const { message, finish_reason: finish } = choiceOf(answered([call, { functionCall: { name: 'now' } }]))
  const [first, second] = message.tool_calls!
  expect(finish).toBe('tool_calls')
  expect(message.content).toBeNull()
  expect(first).toMatchObject({ function: { name: 'forecast', arguments: '{"location":"Bergen"}' } })
  expect(second).toMatchObject({ function: { name: 'now', arguments: '{}' } })
  expect(first!.id).toMatch(/^call_[0-9a-f]{24}$/)
  expect(first!.id).not.toBe(second!.id)
  const [detail, ...others] = message.reasoning_details!
  expect(detail).toMatchObject({ type: 'reasoning.encrypted', id: first!.id })
  expect(detail?.type === 'reasoning.encrypted' && seal.open(detail.data, first!.id)).toBe('signed')
  expect(others).toEqual([])
})

test.each([
  ['STOP', 'stop'],
  ['MAX_TOKENS', 'length'],
  ['SAFETY', 'content_filter'],
  ['RECITATION', 'content_filter'],
  ['PROHIBITED_CONTENT', 'content_filter'],
  ['OTHER', 'stop'],
])('maps the finish reason %s to %s', (given, becomes) => {
  expect(choiceOf(answered([{ text: 'a' }], { finishReason: given })).finish_reason).toBe(becomes)
})

test.each(['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL'])('rejects the finish reason %s', (finishReason) => {
  expect(() => choiceOf(answered([], { finishReason, content: {} }))).toThrow(UnfitAnswer)
})

test('reports a blocked prompt as content_filter, with its token count', () => {
  const blocked = {
    promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
    usageMetadata: { promptTokenCount: 9, totalTokenCount: 9 },
  }
  const { choices, usage } = wire.readCompletion(blocked)
  expect(choices[0]).toMatchObject({ message: { content: null }, finish_reason: 'content_filter' })
  expect(usage).toMatchObject({ promptTokens: 9, completionTokens: 0 })
})

test.each([[{}], [{ candidates: [] }], [{ candidates: {} }], [answered([{ text: 1 }])], [[]], [null]])(
  'rejects %j',
  (body) => {
    expect(() => wire.readCompletion(body)).toThrow(UnfitAnswer)
  },
)

test.each([
  [{}],
  [{ candidatesTokenCount: 3 }],
  [{ promptTokenCount: -1 }],
  [{ promptTokenCount: 5, thoughtsTokenCount: '7' }],
])('returns null for the usage %j', (usageMetadata) => {
  expect(wire.readCompletion({ ...answered([{ text: 'a' }]), usageMetadata }).usage).toBeNull()
})

describe('a stream', () => {
  function read(...events: object[]): (ChatChunk | 'end')[] {
    const next = wire.openEvents()
    return events.map((event) => next(JSON.stringify(event))).filter((chunk) => chunk !== null)
  }
  const piece = (parts: object[], more: object = {}) => ({
    candidates: [{ content: { parts, role: 'model' }, index: 0, ...more }],
    usageMetadata: { promptTokenCount: 7, totalTokenCount: 7 },
  })

  test('yields pieces of the response, with the usage of its end', () => {
    const chunks = read(
      piece([{ text: '' }]),
      piece([{ text: 'Hm', thought: true }]),
      piece([{ text: 'It is' }]),
      answered([{ text: ' so.', thoughtSignature: 'signed' }]),
    )
    expect(chunks).toMatchObject([
      { choices: [{ delta: { role: 'assistant', reasoning_content: 'Hm' }, finish_reason: null }], usage: null },
      { choices: [{ delta: { content: 'It is' }, finish_reason: null }], usage: null },
      {
        choices: [{ delta: { content: ' so.', reasoning_details: [{ type: 'reasoning.encrypted' }] } }],
        usage: { completionTokens: 1816 },
      },
    ])
  })

  test('numbers its tool calls, and ends with tool_calls although the provider reports STOP', () => {
    const call = (name: string) => piece([{ functionCall: { name, args: {} } }])
    const chunks = read(call('a'), call('b'), piece([], { finishReason: 'STOP' })) as ChatChunk[]
    const deltas = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? [])
    expect(deltas.map(({ index, function: called }) => [index, called?.name])).toEqual([
      [0, 'a'],
      [1, 'b'],
    ])
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('tool_calls')
  })

  test('may report usage after its end', () => {
    const [, usage] = read(piece([{ text: 'a' }], { finishReason: 'STOP' }), {
      usageMetadata: {
        promptTokenCount: 12,
        toolUsePromptTokenCount: 65,
        candidatesTokenCount: 71,
        totalTokenCount: 148,
      },
    })
    expect(usage).toMatchObject({ choices: [], usage: { promptTokens: 77, completionTokens: 71 } })
  })

  test('may contain an error', () => {
    const failed = (code: number) => () => read({ error: { code, message: 'secret', status: 'UNAVAILABLE' } })
    expect(failed(503)).toThrow(ErrorInAnswer)
  })
})

describe('an error response', () => {
  const body = (details: object[] | undefined) =>
    JSON.stringify({ error: { code: 400, message: 'secret', status: 'INVALID_ARGUMENT', details } })

  test('about the API key becomes status 401', () => {
    const reason = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }
    expect(readGeminiError(400, {}, body([reason]))).toEqual({ status: 401, code: 'API_KEY_INVALID' })
  })

  test('otherwise keeps its status and code', () => {
    expect(readGeminiError(400, {}, body(undefined))).toEqual({ status: 400, code: 'INVALID_ARGUMENT' })
    expect(readGeminiError(503, {}, '<html>')).toEqual({ status: 503, code: undefined })
    expect(readGeminiError(429, {}, `[${body(undefined)}]`)).toEqual({ status: 429, code: 'INVALID_ARGUMENT' })
  })
})
