import { IGNORED_IF_UNSUPPORTED, readChatRequest } from '@gateway/api/chat-request'
import type { ResponseCreateParams, ResponseInputItem } from 'openai/resources/responses/responses'
import { describe, expect, test } from 'vitest'
import { forwardedFor } from '../exchange.ts'
import { reasoningSeal, sealedItem } from './reasoning-item.ts'
import { NotInWireFormat } from '../wire-format.ts'
import { responsesWire } from './responses-wire.ts'
import { writeResponses } from './write-responses.ts'

const seal = reasoningSeal({ apiKey: 'sk-1', baseUrl: 'https://api.example.com/v1' })
const rules = { encryptedReasoning: true, leastCap: 1 }

/** Returns what is sent for a received body. Bodies that the contract refuses never reach the adapter. */
function written(body: object, more: { outputCap?: number; stream?: boolean } = {}): ResponseCreateParams {
  const request = readChatRequest({ model: 'm', messages: [hello], ...body })
  const forwarded = forwardedFor(request, [...IGNORED_IF_UNSUPPORTED])
  return JSON.parse(writeResponses({ model: 'gpt', forwarded, outputCap: 100, stream: false, ...more }, seal, rules))
}

const inputOf = (messages: object[]) => written({ messages }).input

const hello = { role: 'user', content: 'Hello' }
const toolCall = (id: string, given = '{}') => ({
  id,
  type: 'function',
  function: { name: 'look_up', arguments: given },
})
const tool = { type: 'function', function: { name: 'look_up', parameters: { properties: { q: { type: 'string' } } } } }

// The types of OpenAI's SDK hold these expectations to the format.
const asked = { type: 'message', role: 'user', content: 'Hello' } satisfies ResponseInputItem

test('writes a minimal request, which stores nothing and asks for the encrypted reasoning', () => {
  expect(written({})).toEqual({
    model: 'gpt',
    max_output_tokens: 100,
    store: false,
    include: ['reasoning.encrypted_content'],
    input: [asked],
  } satisfies ResponseCreateParams)
  expect(written({}, { stream: true, outputCap: 7 })).toMatchObject({ stream: true, max_output_tokens: 7 })
})

test('asks for no encrypted reasoning if the provider is configured without it', () => {
  const config = { baseUrl: 'https://api.example.com/v1', encryptedReasoning: false }
  const call = { model: 'gpt', forwarded: JSON.stringify({ messages: [hello] }), outputCap: 1, stream: false }
  expect(responsesWire(config).request(call)).toMatchObject({ body: expect.not.stringContaining('include') })
})

test('refuses an output cap below the minimum of OpenAI, and there only', () => {
  const call = { model: 'gpt', forwarded: JSON.stringify({ messages: [hello] }), outputCap: 15, stream: false }
  const wire = (baseUrl: string) => responsesWire({ baseUrl, encryptedReasoning: true })
  expect(() => wire('https://api.openai.com/v1').request(call)).toThrow('max_tokens is below 16')
  expect(wire('https://api.openai.com/v1').request({ ...call, outputCap: 16 })).toMatchObject({ path: '/responses' })
  expect(wire('https://api.example.com/v1').request(call)).toMatchObject({ path: '/responses' })
})

describe('the conversation', () => {
  test('has instructions in place, images and the parts of a text', () => {
    const image = { url: 'data:image/png;base64,iVBORw0KGgo=' }
    const file = { file_data: 'data:application/pdf;base64,JVBERi0=', filename: 'a.pdf' }
    const content = [
      { type: 'text', text: 'What' },
      { type: 'image_url', image_url: image },
      { type: 'image_url', image_url: { ...image, detail: 'low' } },
      { type: 'file', file },
    ]

    const items = [
      { type: 'message', role: 'system', content: 'Be brief.' },
      asked,
      { type: 'message', role: 'system', content: [{ type: 'input_text', text: 'Be kind.' }] },
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'What' },
          { type: 'input_image', image_url: image.url, detail: 'auto' },
          { type: 'input_image', image_url: image.url, detail: 'low' },
          { type: 'input_file', ...file },
        ],
      },
    ] satisfies ResponseInputItem[]
    // Attachments are inserted into the text of the request, so the adapter receives their URLs.
    const messages = [
      { role: 'system', content: 'Be brief.' },
      hello,
      { role: 'system', content: [{ type: 'text', text: 'Be kind.' }] },
      { role: 'user', content },
    ]
    const call = { model: 'gpt', forwarded: JSON.stringify({ messages }), outputCap: 1, stream: false }
    expect(JSON.parse(writeResponses(call, seal, rules)).input).toEqual(items)
  })

  test('has a round of tool calls as items', () => {
    const long = `toolu_${'x'.repeat(80)}`
    const items = inputOf([
      hello,
      { role: 'assistant', content: 'I look.', tool_calls: [toolCall('call_12345678', '{"q":1}'), toolCall(long)] },
      { role: 'tool', tool_call_id: 'call_12345678', content: 'found' },
      { role: 'tool', tool_call_id: long, content: [{ type: 'text', text: 'nothing' }] },
    ]) as { call_id: string }[]
    const id = items[3]!.call_id
    expect(id).toMatch(/^call_\w{24}$/)
    expect(items).toEqual([
      asked,
      {
        type: 'message',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'I look.', annotations: [] }],
      },
      { type: 'function_call', call_id: 'call_12345678', name: 'look_up', arguments: '{"q":1}' },
      { type: 'function_call', call_id: id, name: 'look_up', arguments: '{}' },
      { type: 'function_call_output', call_id: 'call_12345678', output: 'found' },
      { type: 'function_call_output', call_id: id, output: [{ type: 'input_text', text: 'nothing' }] },
    ])
  })

  test('has earlier refusals, and no empty responses', () => {
    const said = (refusal: string) => ({ type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal }] })
    expect(
      inputOf([
        hello,
        { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
        { role: 'assistant', content: null, refusal: 'Never.' },
        { role: 'assistant', content: '' },
      ]),
    ).toEqual([asked, said('No.'), said('Never.')])
  })

  test('refuses speaker names, except on tool results', () => {
    expect(() => inputOf([{ ...hello, name: 'ann' }])).toThrow('messages.0.name names a speaker')
    const result = { role: 'tool', tool_call_id: 'a', content: 'x', name: 'look_up' }
    expect(inputOf([hello, { role: 'assistant', tool_calls: [toolCall('a')] }, result])).toHaveLength(3)
  })
})

describe('reasoning', () => {
  const item = (n: number) => ({
    type: 'reasoning' as const,
    id: `rs_${n}`,
    summary: [{ type: 'summary_text' as const, text: 'Hm' }],
    encrypted_content: `secret ${n}`,
  })
  const detail = (n: number, id?: string) => ({ ...sealedItem(item(n), seal)!, ...(id !== undefined && { id }) })
  const typesOf = (message: object) =>
    (inputOf([hello, { role: 'assistant', ...message }]) as { type: string; id?: string; call_id?: string }[])
      .slice(1)
      .map(({ type, id, call_id: call }) => id ?? call ?? type)

  test('is sent back as the same item, before the call or text it led to', () => {
    const [, first] = inputOf([
      hello,
      { role: 'assistant', tool_calls: [toolCall('a')], reasoning_details: [detail(1)] },
    ]) as ResponseInputItem[]
    expect(first).toEqual(item(1) satisfies ResponseInputItem)
    const calls = [toolCall('a'), toolCall('b')]
    const details = [detail(1), detail(2, 'a'), detail(3, 'b'), detail(4, 'b'), detail(5, 'lost')]
    expect(typesOf({ content: 'I look.', tool_calls: calls, reasoning_details: details })).toEqual([
      'rs_1',
      'rs_5',
      'message',
      'rs_2',
      'a',
      'rs_3',
      'rs_4',
      'b',
    ])
  })

  test('is left out if nothing follows it, if it was changed, or if it is from another provider', () => {
    expect(typesOf({ content: '', reasoning_details: [detail(1)] })).toEqual([])
    const elsewhere = reasoningSeal({ apiKey: 'sk-2', baseUrl: 'https://api.example.com/v1' })
    const { data } = detail(1)
    const details = [
      { type: 'reasoning.encrypted', data: `${data.slice(0, -2)}AA` },
      sealedItem(item(1), elsewhere),
      { type: 'reasoning.encrypted', data: seal.seal('{"id":1}', '') },
      { type: 'reasoning.encrypted', data: seal.seal('not JSON', '') },
      { type: 'reasoning.text', text: 'Hm', signature: seal.seal('sig', 'Hm') },
    ]
    expect(typesOf({ content: 'So.', reasoning_details: details })).toEqual(['message'])
  })

  test('is requested with its summary, except for the effort none', () => {
    expect(written({ reasoning_effort: 'high' }).reasoning).toEqual({ effort: 'high', summary: 'auto' })
    expect(written({ reasoning_effort: 'none' }).reasoning).toEqual({ effort: 'none' })
  })
})

describe('parameters', () => {
  test('of tools are written without strictness unless requested, which is the default of the format', () => {
    const strict = { type: 'function', function: { name: 'ping', description: 'Pings', strict: true } }
    const tools = [
      { type: 'function', name: 'look_up', parameters: { properties: { q: { type: 'string' } } }, strict: false },
      {
        type: 'function',
        name: 'ping',
        description: 'Pings',
        parameters: { type: 'object', properties: {} },
        strict: true,
      },
    ] satisfies ResponseCreateParams['tools']
    expect(written({ tools: [tool, strict] }).tools).toEqual(tools)
  })

  test.each([
    [{}, undefined],
    [{ tool_choice: 'none' }, 'none'],
    [{ tool_choice: 'required' }, 'required'],
    [
      { tool_choice: { type: 'function', function: { name: 'look_up' } } },
      { type: 'function', name: 'look_up' } satisfies ResponseCreateParams['tool_choice'],
    ],
  ])('%j becomes the tool choice %j', (choice, said) => {
    expect(written({ tools: [tool], ...choice }).tool_choice).toEqual(said)
  })

  test('of the text are written under text', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } }
    const format = (json: object) => ({ response_format: { type: 'json_schema', json_schema: json } })
    expect(written({ ...format({ name: 'x', schema, strict: true }), verbosity: 'low' }).text).toEqual({
      format: { type: 'json_schema', name: 'x', schema, strict: true },
      verbosity: 'low',
    } satisfies ResponseCreateParams['text'])
    expect(written(format({ name: 'x' })).text).toEqual({
      format: { type: 'json_schema', name: 'x', schema: { type: 'object' }, strict: false },
    })
    expect(written({ response_format: { type: 'json_object' } }).text).toEqual({ format: { type: 'json_object' } })
    expect(written({})).not.toHaveProperty('text')
  })

  test('that the format has are written unchanged', () => {
    const same = { temperature: 0.3, top_p: 0.9, parallel_tool_calls: false, top_logprobs: 3 }
    expect(written({ ...same, tools: [tool], logprobs: true })).toMatchObject({
      ...same,
      include: ['reasoning.encrypted_content', 'message.output_text.logprobs'],
    })
  })

  test.each([
    { stop: 'END' },
    { seed: 7 },
    { frequency_penalty: 0.5 },
    { presence_penalty: -1 },
    { logit_bias: { 5: 1 } },
    { top_k: 40 },
    { min_p: 0.1 },
    { top_a: 0.1 },
    { repetition_penalty: 1.1 },
    { tools: [tool], tool_choice: { type: 'allowed_tools', allowed_tools: {} } },
  ])('that the format lacks are refused: %j', (parameter) => {
    expect(() => written(parameter)).toThrow(NotInWireFormat)
  })
})
