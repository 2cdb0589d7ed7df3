import { IGNORED_IF_UNSUPPORTED, readChatRequest } from '@gateway/api/chat-request'
import { describe, expect, test } from 'vitest'
import { forwardedFor } from '../exchange.ts'
import { reasoningSeal } from '../openai-responses/reasoning-item.ts'
import { NotInWireFormat } from '../wire-format.ts'
import { writeMessages } from './write-messages.ts'

const seal = reasoningSeal({ apiKey: 'sk-1', baseUrl: 'https://api.example.com/v1' })

/** Returns what is sent for a received body. Bodies that the contract refuses never reach the adapter. */
function written(body: object, more: { outputCap?: number; stream?: boolean } = {}) {
  const request = readChatRequest({ model: 'm', messages: [hello], ...body })
  const forwarded = forwardedFor(request, [...IGNORED_IF_UNSUPPORTED])
  return JSON.parse(writeMessages({ model: 'claude', forwarded, outputCap: 100, stream: false, ...more }, seal))
}

/** Returns the field of a body that the format can't express. */
function unsayable(body: object) {
  try {
    written(body)
  } catch (error) {
    if (error instanceof NotInWireFormat) return error.unsayable
    throw error
  }
  throw new Error('it can be said')
}

const hello = { role: 'user', content: 'Hello' }
const text = (said: string) => ({ type: 'text', text: said })
const toolCall = (id: string, name: string, given: string) => ({
  id,
  type: 'function',
  function: { name, arguments: given },
})
const tool = { type: 'function', function: { name: 'look_up', parameters: { properties: { q: { type: 'string' } } } } }

test('writes a minimal request with a model, a cap and a turn', () => {
  expect(written({})).toEqual({
    model: 'claude',
    max_tokens: 100,
    messages: [{ role: 'user', content: [text('Hello')] }],
  })
  expect(written({}, { stream: true, outputCap: 7 })).toMatchObject({ stream: true, max_tokens: 7 })
})

test('writes cache marks on the last block of a message, on parts and on tools', () => {
  const cache_control = { type: 'ephemeral' }
  const hour = { type: 'ephemeral', ttl: '1h' }
  const { system, messages, tools } = written({
    messages: [
      { role: 'system', content: 'Be brief.', cache_control: hour },
      { role: 'user', content: [{ ...text('Long'), cache_control }, text('Hello')] },
      { role: 'assistant', content: null, tool_calls: [toolCall('c1', 'look_up', '{}')] },
      { role: 'tool', tool_call_id: 'c1', content: 'found', cache_control },
    ],
    tools: [{ ...tool, cache_control }],
  })
  expect(system).toEqual([{ ...text('Be brief.'), cache_control: hour }])
  expect(messages[0].content).toEqual([{ ...text('Long'), cache_control }, text('Hello')])
  expect(messages[2].content).toMatchObject([{ type: 'tool_result', cache_control }])
  expect(tools).toMatchObject([{ name: 'look_up', cache_control }])
})

test('writes top_k, except while thinking, which excludes it', () => {
  expect(written({ top_k: 40 })).toMatchObject({ top_k: 40 })
  expect(written({ top_k: 40, reasoning_effort: 'low' })).not.toHaveProperty('top_k')
})

describe('writing the conversation', () => {
  const messagesOf = (messages: object[]) => written({ messages }).messages

  test('moves leading instructions to system and rejects later ones', () => {
    const brief = { role: 'system', content: 'Be brief.' }
    const kind = { role: 'developer', content: [{ type: 'text', text: 'Be kind.' }] }
    const { system, messages } = written({ messages: [brief, kind, hello] })
    expect(system).toEqual([text('Be brief.'), text('Be kind.')])
    expect(messages).toEqual([{ role: 'user', content: [text('Hello')] }])
    expect(unsayable({ messages: [brief, hello, kind] })).toMatchObject({ field: 'messages.2.role' })
  })

  test('rejects speaker names, except on tool results', () => {
    expect(unsayable({ messages: [{ ...hello, name: 'ann' }] })).toMatchObject({ field: 'messages.0.name' })
    expect(unsayable({ messages: [{ role: 'system', content: 'x', name: 'a' }, hello] })).toMatchObject({
      field: 'messages.0.name',
      instead: 'leave it out',
    })
    const round = [
      hello,
      { role: 'assistant', tool_calls: [toolCall('a', 'f', '{}')] },
      { role: 'tool', tool_call_id: 'a', content: 'x', name: 'f' },
    ]
    expect(messagesOf(round)).toHaveLength(3)
  })

  describe('reasoning', () => {
    const thought = { type: 'reasoning.text', text: 'Let me see', signature: seal.seal('sig', 'Let me see') }
    const redacted = { type: 'reasoning.encrypted', data: seal.seal('blob', '') }
    const round = (details: object[]) => [
      hello,
      { role: 'assistant', tool_calls: [toolCall('a', 'f', '{}')], reasoning_details: details },
      { role: 'tool', tool_call_id: 'a', content: 'x' },
    ]

    test('is sent back before the text, with its signature', () => {
      const messages = messagesOf(round([thought, redacted]))
      expect(messages[1].content.slice(0, 2)).toEqual([
        { type: 'thinking', thinking: 'Let me see', signature: 'sig' },
        { type: 'redacted_thinking', data: 'blob' },
      ])
    })

    test('allows the model to keep thinking between a tool call and its result', () => {
      expect(written({ messages: round([thought]), reasoning_effort: 'high' })).toHaveProperty('thinking')
    })

    test('is omitted if it was changed or is from another provider', () => {
      const elsewhere = reasoningSeal({ apiKey: 'sk-2', baseUrl: 'https://api.example.com/v1' })
      for (const detail of [
        { ...thought, text: 'Let me not see' },
        { ...thought, signature: 'sig' },
        { ...redacted, data: elsewhere.seal('blob', '') },
      ]) {
        const sent = written({ messages: round([detail]), reasoning_effort: 'high' })
        expect(sent.messages[1].content).toHaveLength(1)
        expect(sent).not.toHaveProperty('thinking')
      }
    })
  })

  test('sends instructions without other messages as a user turn', () => {
    expect(written({ messages: [{ role: 'system', content: 'Say hi.' }] })).toEqual({
      model: 'claude',
      max_tokens: 100,
      messages: [{ role: 'user', content: [text('Say hi.')] }],
    })
  })

  test('merges consecutive messages of a role into one turn and drops blank text', () => {
    expect(
      messagesOf([hello, { role: 'user', content: 'Are you there?' }, { role: 'assistant', content: ' ' }, hello]),
    ).toEqual([{ role: 'user', content: [text('Hello'), text('Are you there?'), text('Hello')] }])
  })

  test('writes a round of two parallel tool calls', () => {
    const calls = [toolCall('call_12345678', 'look_up', '{"q":"a"}'), toolCall('functions.look_up:1', 'look_up', '')]
    const messages = messagesOf([
      hello,
      { role: 'assistant', content: 'I look.', reasoning_content: 'Let me see', tool_calls: calls },
      { role: 'tool', tool_call_id: 'call_12345678', content: 'found' },
      { role: 'tool', tool_call_id: 'functions.look_up:1', content: [{ type: 'text', text: 'nothing' }] },
      { role: 'user', content: 'And?' },
    ])
    const id = messages[1].content[2].id
    expect(id).toMatch(/^call_\w+$/)
    expect(messages).toEqual([
      { role: 'user', content: [text('Hello')] },
      {
        role: 'assistant',
        content: [
          text('I look.'),
          { type: 'tool_use', id: 'call_12345678', name: 'look_up', input: { q: 'a' } },
          { type: 'tool_use', id, name: 'look_up', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'call_12345678', content: [text('found')] },
          { type: 'tool_result', tool_use_id: id, content: [text('nothing')] },
          text('And?'),
        ],
      },
    ])
  })

  test('writes a tool result without text', () => {
    const messages = messagesOf([
      hello,
      { role: 'assistant', tool_calls: [toolCall('a', 'f', '{}')] },
      { role: 'tool', tool_call_id: 'a', content: '' },
    ])
    expect(messages[2].content).toEqual([{ type: 'tool_result', tool_use_id: 'a' }])
  })

  test('writes earlier refusals as text', () => {
    const messages = messagesOf([
      hello,
      { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
      hello,
      { role: 'assistant', content: null, refusal: 'Never.' },
      hello,
    ])
    expect(messages[1]).toEqual({ role: 'assistant', content: [text('No.')] })
    expect(messages[3]).toEqual({ role: 'assistant', content: [text('Never.')] })
  })

  test('writes images inline or by URL', () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'low' } }
    const [turn] = messagesOf([{ role: 'user', content: [{ type: 'text', text: 'What is it?' }, image] }])
    expect(turn.content).toEqual([
      text('What is it?'),
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
    ])
    const forwarded = JSON.stringify({
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }] }],
    })
    const remote = JSON.parse(writeMessages({ model: 'm', forwarded, outputCap: 1, stream: false }, seal))
    expect(remote.messages[0].content).toEqual([
      { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
    ])
  })

  test('writes files as documents with their names', () => {
    const cache = { cache_control: { type: 'ephemeral' } }
    const file = { file_data: 'data:application/pdf;base64,JVBERi0=', filename: 'terms.pdf' }
    const [turn] = messagesOf([{ role: 'user', content: [{ type: 'file', file, ...cache }] }])
    const source = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' }
    expect(turn.content).toEqual([{ type: 'document', title: 'terms.pdf', source, ...cache }])
  })

  test.each(['{"q":', '[]', '"a"', 'null'])('rejects a tool call with the arguments %s', (given) => {
    const messages = [
      hello,
      { role: 'assistant', tool_calls: [toolCall('a', 'f', given)] },
      { role: 'tool', tool_call_id: 'a', content: 'x' },
    ]
    expect(() => written({ messages })).toThrow(NotInWireFormat)
  })
})

describe('tools', () => {
  test('are written with a schema of type object', () => {
    const plain = { type: 'function', function: { name: 'ping', description: 'Pings', strict: true } }
    expect(written({ tools: [tool, plain] }).tools).toEqual([
      { name: 'look_up', input_schema: { type: 'object', properties: { q: { type: 'string' } } } },
      { name: 'ping', description: 'Pings', input_schema: { type: 'object' }, strict: true },
    ])
  })

  const named = { type: 'function', function: { name: 'look_up' } }
  const onlyOne = { disable_parallel_tool_use: true }
  test.each([
    [{}, undefined],
    [{ tool_choice: 'auto' }, { type: 'auto' }],
    [{ tool_choice: 'none' }, { type: 'none' }],
    [{ tool_choice: 'required' }, { type: 'any' }],
    [{ tool_choice: named }, { type: 'tool', name: 'look_up' }],
    [{ parallel_tool_calls: true }, undefined],
    [{ parallel_tool_calls: false }, { type: 'auto', ...onlyOne }],
    [
      { parallel_tool_calls: false, tool_choice: 'required' },
      { type: 'any', ...onlyOne },
    ],
    [
      { parallel_tool_calls: false, tool_choice: named },
      { type: 'tool', name: 'look_up', ...onlyOne },
    ],
    [{ parallel_tool_calls: false, tool_choice: 'none' }, { type: 'none' }],
  ])('%j becomes %j', (choice, said) => {
    expect(written({ tools: [tool], ...choice }).tool_choice).toEqual(said)
  })

  test('are rejected with a tool_choice of an unknown form', () => {
    expect(() => written({ tools: [tool], tool_choice: { type: 'allowed_tools', allowed_tools: {} } })).toThrow(
      NotInWireFormat,
    )
  })
})

describe('writing parameters', () => {
  test('writes supported sampling parameters and rejects a temperature above 1', () => {
    expect(written({ temperature: 0.3, top_p: 0.9, stop: 'END' })).toMatchObject({
      temperature: 0.3,
      top_p: 0.9,
      stop_sequences: ['END'],
    })
    expect(written({ temperature: 1, stop: ['a', 'b'] })).toMatchObject({ temperature: 1, stop_sequences: ['a', 'b'] })
    expect(unsayable({ temperature: 1.5 })).toEqual({
      field: 'temperature',
      problem: 'is above 1, the most that this model takes',
      instead: 'send 1 or less',
    })
    expect(written({ logprobs: false })).not.toHaveProperty('logprobs')
  })

  test('writes a JSON schema as the output format', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } }
    expect(
      written({ response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } }).output_config,
    ).toEqual({ format: { type: 'json_schema', schema } })
    expect(written({ response_format: { type: 'text' } })).not.toHaveProperty('output_config')
  })

  test.each([
    { response_format: { type: 'json_object' } },
    { frequency_penalty: 0.5 },
    { presence_penalty: -1 },
    { logit_bias: { 5: 1 } },
    { logprobs: true },
    { verbosity: 'low' },
    { seed: 7 },
    { reasoning_effort: 'minimal' },
    { reasoning_effort: 'high', temperature: 0.3 },
    { reasoning_effort: 'high', top_p: 0.5 },
    { stop: '\n' },
  ])('rejects %j', (parameter) => {
    expect(() => written(parameter)).toThrow(NotInWireFormat)
  })

  test('writes reasoning_effort as effort and adaptive, summarized thinking', () => {
    const thinking = { type: 'adaptive', display: 'summarized' }
    expect(written({ reasoning_effort: 'high', temperature: 1, top_p: 1 })).toEqual({
      ...written({ temperature: 1, top_p: 1 }),
      output_config: { effort: 'high' },
      thinking,
    })
    expect(written({ reasoning_effort: 'none', temperature: 0.3 })).toEqual({
      ...written({ temperature: 0.3 }),
      thinking: { type: 'disabled' },
    })
  })

  test('requests no thinking after a tool result without its reasoning, or with a forced tool', () => {
    const round = [
      hello,
      { role: 'assistant', tool_calls: [toolCall('a', 'f', '{}')] },
      { role: 'tool', tool_call_id: 'a', content: 'x' },
    ]
    expect(written({ messages: round, reasoning_effort: 'high' })).not.toHaveProperty('thinking')
    expect(written({ tools: [tool], tool_choice: 'required', reasoning_effort: 'high' })).not.toHaveProperty('thinking')
    expect(written({ tools: [tool], tool_choice: 'auto', reasoning_effort: 'high' })).toHaveProperty('thinking')
  })
})
