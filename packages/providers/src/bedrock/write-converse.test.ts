import { IGNORED_IF_UNSUPPORTED, readChatRequest } from '@gateway/api/chat-request'
import { describe, expect, test } from 'vitest'
import { forwardedFor } from '../exchange.ts'
import { reasoningSeal } from '../openai-responses/reasoning-item.ts'
import { NotInWireFormat } from '../wire-format.ts'
import { writeConverse } from './write-converse.ts'

// Shapes from https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html, typed by the SDK.

const seal = reasoningSeal({ apiKey: 'b-1', baseUrl: 'https://bedrock-runtime.us-east-1.amazonaws.com' })
const hello = { role: 'user', content: 'Hello' }
const toolCall = (id: string, given = '{"q":"a"}') => ({
  id,
  type: 'function',
  function: { name: 'look_up', arguments: given },
})
const tool = { type: 'function', function: { name: 'look_up', parameters: { properties: { q: { type: 'string' } } } } }
const spec = { name: 'look_up', inputSchema: { json: { type: 'object', properties: { q: { type: 'string' } } } } }

function written(body: object) {
  const request = readChatRequest({ model: 'm', messages: [hello], ...body })
  const forwarded = forwardedFor(request, [...IGNORED_IF_UNSUPPORTED])
  return writeConverse({ model: 'us.amazon.nova-lite-v1:0', forwarded, outputCap: 100, stream: false }, seal)
}

function unsayable(body: object) {
  try {
    written(body)
  } catch (error) {
    if (error instanceof NotInWireFormat) return error.unsayable.field
    throw error
  }
  throw new Error('it can be said')
}

test('writes cache marks as cache points', () => {
  const cache_control = { type: 'ephemeral' }
  const point = { cachePoint: { type: 'default' } }
  const sent = written({
    messages: [
      { role: 'system', content: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '1h' } },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Long', cache_control },
          { type: 'text', text: 'Hello' },
        ],
      },
      { role: 'assistant', content: 'Hi', cache_control },
      hello,
    ],
    tools: [{ ...tool, cache_control }],
  })
  expect(sent.system).toEqual([{ text: 'Be brief.' }, { cachePoint: { type: 'default', ttl: '1h' } }])
  expect(sent.messages!.map(({ content }) => content)).toEqual([
    [{ text: 'Long' }, point, { text: 'Hello' }],
    [{ text: 'Hi' }, point],
    [{ text: 'Hello' }],
  ])
  expect(sent.toolConfig!.tools).toEqual([{ toolSpec: spec }, point])
})

test('writes a minimal request with a model, a turn and a cap', () => {
  expect(written({})).toEqual({
    modelId: 'us.amazon.nova-lite-v1:0',
    messages: [{ role: 'user', content: [{ text: 'Hello' }] }],
    inferenceConfig: { maxTokens: 100 },
  })
})

test('moves leading instructions to system and rejects later ones', () => {
  const brief = { role: 'system', content: 'Be brief.' }
  expect(written({ messages: [brief, hello] }).system).toEqual([{ text: 'Be brief.' }])
  expect(written({ messages: [brief] }).messages).toEqual([{ role: 'user', content: [{ text: 'Be brief.' }] }])
  expect(unsayable({ messages: [hello, brief] })).toBe('messages.1.role')
})

test('writes the supported sampling parameters', () => {
  expect(written({ temperature: 1, top_p: 0.5, stop: ['a', 'b'] }).inferenceConfig).toEqual({
    maxTokens: 100,
    temperature: 1,
    topP: 0.5,
    stopSequences: ['a', 'b'],
  })
})

test('writes images as bytes and rejects image URLs', () => {
  const image = (url: string) => [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }]
  const bytes = Buffer.from('iVBORw0KGgo=', 'base64')
  expect(written({ messages: image('data:image/webp;base64,iVBORw0KGgo=') }).messages?.[0]?.content).toEqual([
    { image: { format: 'webp', source: { bytes } } },
  ])
  expect(unsayable({ messages: image('https://example.com/a.png') })).toBe('messages.0.content.0.image_url')
})

test('writes files as documents with permitted names, and rejects a file without a text', () => {
  const file = (filename: string) => ({
    type: 'file',
    file: { file_data: 'data:application/pdf;base64,JVBERi0=', filename },
  })
  const source = { bytes: Buffer.from('%PDF-') }
  const content = [{ type: 'text', text: 'Compare' }, file('a_b.pdf'), file('Ä.pdf')]
  expect(written({ messages: [{ role: 'user', content }] }).messages?.[0]?.content).toEqual([
    { text: 'Compare' },
    { document: { format: 'pdf', name: 'a b pdf 1', source } },
    { document: { format: 'pdf', name: 'pdf 2', source } },
  ])
  expect(unsayable({ messages: [{ role: 'user', content: [file('a.pdf')] }] })).toBe('messages.0.content')
})

describe('tools', () => {
  const named = { type: 'function', function: { name: 'look_up' } }
  test.each([
    [{ tools: [tool] }, { tools: [{ toolSpec: spec }] }],
    [
      { tools: [tool], tool_choice: 'auto' },
      { tools: [{ toolSpec: spec }], toolChoice: { auto: {} } },
    ],
    [
      { tools: [tool], tool_choice: 'required' },
      { tools: [{ toolSpec: spec }], toolChoice: { any: {} } },
    ],
    [
      { tools: [tool], tool_choice: named },
      { tools: [{ toolSpec: spec }], toolChoice: { tool: { name: 'look_up' } } },
    ],
    [{ tools: [tool], tool_choice: 'none' }, undefined],
  ])('%j', (asked, config) => {
    expect(written(asked).toolConfig).toEqual(config)
  })

  const round = [
    hello,
    { role: 'assistant', tool_calls: [toolCall('call_a'), toolCall('functions.look_up:1', '')] },
    { role: 'tool', tool_call_id: 'call_a', content: 'found' },
    { role: 'tool', tool_call_id: 'functions.look_up:1', content: '' },
  ]

  test('are written for a round of two calls, with IDs that Bedrock accepts', () => {
    const [, called, results] = written({ messages: round, tools: [tool] }).messages!
    const other = called?.content?.[1]?.toolUse?.toolUseId
    expect(other).toMatch(/^call_\w+$/)
    expect(called?.content).toEqual([
      { toolUse: { toolUseId: 'call_a', name: 'look_up', input: { q: 'a' } } },
      { toolUse: { toolUseId: other, name: 'look_up', input: {} } },
    ])
    expect(results).toEqual({
      role: 'user',
      content: [
        { toolResult: { toolUseId: 'call_a', content: [{ text: 'found' }] } },
        { toolResult: { toolUseId: other, content: [] } },
      ],
    })
    expect(unsayable({ messages: round, tools: [tool], tool_choice: 'none' })).toBe('tool_choice')
  })
})

test('sends reasoning back with its signature, and only to the provider it came from', () => {
  const elsewhere = reasoningSeal({ apiKey: 'b-2', baseUrl: 'https://bedrock-runtime.us-east-1.amazonaws.com' })
  const details = [
    { type: 'reasoning.text', text: 'Hm', signature: seal.seal('signed', 'Hm') },
    { type: 'reasoning.encrypted', data: seal.seal('YmxvYg==', '') },
    { type: 'reasoning.encrypted', data: elsewhere.seal('YmxvYg==', '') },
  ]
  const messages = [hello, { role: 'assistant', content: 'Hi', reasoning_details: details }, hello]
  expect(written({ messages }).messages?.[1]?.content).toEqual([
    { reasoningContent: { reasoningText: { text: 'Hm', signature: 'signed' } } },
    { reasoningContent: { redactedContent: Buffer.from('blob') } },
    { text: 'Hi' },
  ])
})

test.each([
  { seed: 7 },
  { temperature: 1.1 },
  { frequency_penalty: 0.5 },
  { presence_penalty: -1 },
  { logit_bias: { 5: 1 } },
  { logprobs: true },
  { verbosity: 'low' },
  { reasoning_effort: 'high' },
  { parallel_tool_calls: false },
  { response_format: { type: 'json_object' } },
])('rejects %j', (asked) => {
  expect(unsayable(asked)).toBe(Object.keys(asked)[0])
})
