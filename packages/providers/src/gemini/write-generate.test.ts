import { IGNORED_IF_UNSUPPORTED, readChatRequest } from '@gateway/api/chat-request'
import { describe, expect, test } from 'vitest'
import { forwardedFor } from '../exchange.ts'
import { reasoningSeal } from '../openai-responses/reasoning-item.ts'
import { NotInWireFormat } from '../wire-format.ts'
import { writeGenerate } from './write-generate.ts'

// Shapes from https://ai.google.dev/api/generate-content and https://ai.google.dev/gemini-api/docs/thought-signatures.

const seal = reasoningSeal({ apiKey: 'g-1', baseUrl: 'https://api.example.com/v1beta' })
const hello = { role: 'user', content: 'Hello' }
const toolCall = (id: string, given = '{"q":"a"}') => ({
  id,
  type: 'function',
  function: { name: 'look_up', arguments: given },
})
const tool = {
  type: 'function',
  function: { name: 'look_up', description: 'Looks', parameters: { type: 'object', additionalProperties: false } },
}

/** Returns what is sent for a received body. */
function written(body: object, model = 'gemini-2.5-flash') {
  const request = readChatRequest({ model: 'm', messages: [hello], ...body })
  const forwarded = forwardedFor(request, [...IGNORED_IF_UNSUPPORTED])
  return JSON.parse(writeGenerate({ model, forwarded, outputCap: 100, stream: false }, seal))
}

function unsayable(body: object, model?: string) {
  try {
    written(body, model)
  } catch (error) {
    if (error instanceof NotInWireFormat) return error.unsayable.field
    throw error
  }
  throw new Error('it can be said')
}

test('writes a minimal request with a turn and a cap', () => {
  expect(written({})).toEqual({
    contents: [{ role: 'user', parts: [{ text: 'Hello' }] }],
    generationConfig: { maxOutputTokens: 100 },
  })
})

test('moves leading instructions to systemInstruction, and rejects later ones and speaker names', () => {
  const brief = { role: 'system', content: 'Be brief.' }
  expect(written({ messages: [brief, hello] })).toMatchObject({
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
    contents: [{ role: 'user' }],
  })
  expect(written({ messages: [brief] }).contents).toEqual([{ role: 'user', parts: [{ text: 'Be brief.' }] }])
  expect(unsayable({ messages: [hello, brief] })).toBe('messages.1.role')
  expect(unsayable({ messages: [{ ...hello, name: 'ann' }] })).toBe('messages.0.name')
})

test('writes sampling parameters under their Gemini names', () => {
  const asked = { temperature: 2, top_p: 0.5, seed: 7, frequency_penalty: 1, presence_penalty: -1, stop: 'END' }
  expect(written(asked).generationConfig).toEqual({
    maxOutputTokens: 100,
    temperature: 2,
    topP: 0.5,
    seed: 7,
    frequencyPenalty: 1,
    presencePenalty: -1,
    stopSequences: ['END'],
  })
})

test('writes a JSON response format, with its schema if there is one', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } } }
  const format = (given: object) => written({ response_format: given }).generationConfig
  expect(format({ type: 'json_object' })).toEqual({ maxOutputTokens: 100, responseMimeType: 'application/json' })
  expect(format({ type: 'json_schema', json_schema: { name: 'x', schema } })).toMatchObject({
    responseMimeType: 'application/json',
    responseJsonSchema: schema,
  })
  expect(format({ type: 'text' })).toEqual({ maxOutputTokens: 100 })
})

describe('tools', () => {
  test('are written with their schema unchanged', () => {
    expect(written({ tools: [tool] }).tools).toEqual([
      {
        functionDeclarations: [
          {
            name: 'look_up',
            description: 'Looks',
            parametersJsonSchema: { type: 'object', additionalProperties: false },
          },
        ],
      },
    ])
  })

  const named = { type: 'function', function: { name: 'look_up' } }
  const strict = { type: 'function', function: { ...tool.function, strict: true } }
  test.each([
    [{ tools: [tool] }, undefined],
    [{ tools: [tool], tool_choice: 'auto' }, { mode: 'AUTO' }],
    [{ tools: [tool], tool_choice: 'none' }, { mode: 'NONE' }],
    [{ tools: [tool], tool_choice: 'required' }, { mode: 'ANY' }],
    [
      { tools: [tool], tool_choice: named },
      { mode: 'ANY', allowedFunctionNames: ['look_up'] },
    ],
    [{ tools: [strict] }, { mode: 'VALIDATED' }],
  ])('%j', (asked, config) => {
    expect(written(asked).toolConfig?.functionCallingConfig).toEqual(config)
  })

  const round = (assistant: object) => [
    hello,
    { role: 'assistant', content: 'I look.', tool_calls: [toolCall('call_a'), toolCall('call_b', '')], ...assistant },
    { role: 'tool', tool_call_id: 'call_a', content: 'found' },
    { role: 'tool', tool_call_id: 'call_b', content: [{ type: 'text', text: 'nothing' }] },
  ]

  test('are written for a round, with results as user parts that name the function', () => {
    const { contents } = written({ messages: round({}) })
    expect(contents.slice(1)).toEqual([
      {
        role: 'model',
        parts: [
          { text: 'I look.' },
          { functionCall: { id: 'call_a', name: 'look_up', args: { q: 'a' } } },
          { functionCall: { id: 'call_b', name: 'look_up', args: {} } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'call_a', name: 'look_up', response: { output: 'found' } } },
          { functionResponse: { id: 'call_b', name: 'look_up', response: { output: 'nothing' } } },
        ],
      },
    ])
    expect(unsayable({ messages: [hello, { role: 'tool', tool_call_id: 'x', content: 'y' }] })).toBe(
      'messages.1.tool_call_id',
    )
    expect(unsayable({ messages: round({ tool_calls: [toolCall('call_a', '[]')] }) })).toBe(
      'messages.1.tool_calls.0.function.arguments',
    )
  })

  test('carry a signature back with the call it came with', () => {
    const details = [
      { type: 'reasoning.encrypted', data: seal.seal('of the text', '') },
      { type: 'reasoning.encrypted', data: seal.seal('of the call', 'call_a'), id: 'call_a' },
    ]
    const [text, first, second] = written({ messages: round({ reasoning_details: details }) }).contents[1].parts
    expect(text.thoughtSignature).toBe('of the text')
    expect(first.thoughtSignature).toBe('of the call')
    expect(second).not.toHaveProperty('thoughtSignature')
    const [changed] = details.map((detail) => ({ ...detail, id: 'call_b' })).slice(1)
    const { contents } = written({ messages: round({ reasoning_details: [changed] }) })
    expect(JSON.stringify(contents)).not.toContain('thoughtSignature')
  })

  test('are marked for models that reject a call without a signature', () => {
    const { contents } = written({ messages: round({}) }, 'gemini-3-pro-preview')
    expect(contents[1].parts[1].thoughtSignature).toBe('skip_thought_signature_validator')
    expect(contents[1].parts[2]).not.toHaveProperty('thoughtSignature')
  })
})

test('writes images inline, and rejects GIF and image URLs', () => {
  const image = (url: string) => [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }]
  expect(written({ messages: image('data:image/png;base64,iVBORw0KGgo=') }).contents[0].parts).toEqual([
    { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } },
  ])
  for (const url of ['data:image/gif;base64,R0lGODlh', 'https://example.com/a.png'])
    expect(unsayable({ messages: image(url) })).toBe('messages.0.content.0.image_url')
})

test('writes files inline', () => {
  const file = { file_data: 'data:application/pdf;base64,JVBERi0=', filename: 'a.pdf' }
  expect(written({ messages: [{ role: 'user', content: [{ type: 'file', file }] }] }).contents[0].parts).toEqual([
    { inlineData: { mimeType: 'application/pdf', data: 'JVBERi0=' } },
  ])
})

test('writes reasoning_effort as a budget up to Gemini 2.5, and as a level after', () => {
  const thinking = (effort: string, model?: string) =>
    written({ reasoning_effort: effort }, model).generationConfig.thinkingConfig
  expect(thinking('medium')).toEqual({ thinkingBudget: 8192, includeThoughts: true })
  expect(thinking('none')).toEqual({ thinkingBudget: 0 })
  expect(thinking('high', 'gemini-3-pro-preview')).toEqual({ thinkingLevel: 'high', includeThoughts: true })
  expect(unsayable({ reasoning_effort: 'none' }, 'gemini-3-pro-preview')).toBe('reasoning_effort')
  expect(unsayable({ reasoning_effort: 'xhigh' })).toBe('reasoning_effort')
})

test.each([{ logit_bias: { 5: 1 } }, { logprobs: true }, { verbosity: 'low' }, { parallel_tool_calls: false }])(
  'rejects %j',
  (asked) => {
    expect(unsayable({ tools: [tool], ...asked })).toBe(Object.keys(asked)[0])
  },
)
