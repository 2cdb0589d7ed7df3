import assert from 'node:assert/strict'

// The rows of rules §3.1 and §3.2, for a model that gives at most `MODEL.maxOutputTokens`.

export const MODEL = { maxOutputTokens: 4096, contextLength: 400_000 }
export const KB = 1024
export const user = (content: unknown) => ({ role: 'user', content })
export const hello = user('Hello')

/** One row: bodies that are taken, and bodies that are refused, by what is wrong with them. */
export interface Row {
  field: string
  taken: Record<string, Body>
  refused: Record<string, Body | [body: Body, refused: Partial<Refused>]>
}
export type Body = Record<string, unknown>
export interface Refused {
  status: number
  code: string
  param: string
}

const messages = (count: number) => ({ messages: Array.from({ length: count }, () => hello) })
const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } }
const tool = (name = 'look', description = '') => ({ type: 'function', function: { name, description } })
const toolCount = (count: number) => ({ tools: Array.from({ length: count }, (_, n) => tool(`t${n}`)) })

/** Grows the text that `make` takes until the JSON of what it makes has so many bytes. */
function ofBytes<T>(bytes: number, make: (text: string) => T): T {
  const empty = Buffer.byteLength(JSON.stringify(make('')))
  const made = make('x'.repeat(bytes - empty))
  assert.equal(Buffer.byteLength(JSON.stringify(made)), bytes)
  return made
}
const toolsOf = (bytes: number) => ({ tools: ofBytes(bytes, (text) => [tool('look', text)]) })
const choiceOf = (bytes: number) => ({
  tools: [tool()],
  tool_choice: ofBytes(bytes, (text) => ({ type: 'function', function: { name: 'look' }, note: text })),
})
const formatOf = (bytes: number) => ({
  response_format: ofBytes(bytes, (text) => ({
    type: 'json_schema',
    json_schema: { name: 'city', description: text, schema: { type: 'object' } },
  })),
})
/** `messages` and the forwarded fields as one compact object; characters of two bytes, so that bytes aren't characters. */
const forwardedOf = (bytes: number, more: object = {}) => {
  const make = (text: string) => ({ messages: [user(text)], temperature: 1, stop: ['END'], ...more })
  const room = bytes - Buffer.byteLength(JSON.stringify(make('')))
  const body = make('ü'.repeat(Math.floor(room / 2)) + 'x'.repeat(room % 2))
  assert.equal(Buffer.byteLength(JSON.stringify(body)), bytes)
  return body
}

export const rows: Row[] = [
  {
    field: 'model',
    taken: {},
    refused: {
      missing: { model: undefined },
      'of the wrong type': { model: 7 },
      empty: { model: '' },
      'not callable': [{ model: 'acme/none' }, { status: 404, code: 'model_not_found' }],
    },
  },
  {
    field: 'messages',
    taken: { 'one message': messages(1), 'a hundred': messages(100) },
    refused: {
      missing: { messages: undefined },
      none: messages(0),
      'a hundred and one': messages(101),
      'of the wrong type': { messages: 'Hello' },
      'another role': [{ messages: [{ role: 'robot', content: 'x' }] }, { param: 'messages.0.role' }],
      'no role': [{ messages: [{ content: 'x' }] }, { param: 'messages.0.role' }],
      'no content': [{ messages: [{ role: 'user' }] }, { param: 'messages.0.content' }],
      'a content part of no known type': [
        { messages: [user([{ type: 'video' }])] },
        { param: 'messages.0.content.0.type' },
      ],
      'an image for a model that takes none': {
        messages: [user([{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }])],
      },
      'an address for a model that takes none': {
        messages: [user([{ type: 'image_url', image_url: { url: 'https://example.test/a.png' } }])],
      },
      'an image from somewhere': [
        { messages: [user([{ type: 'image_url', image_url: { url: 'http://example.test/a.png' } }])] },
        { param: 'messages.0.content.0.image_url.url' },
      ],
      'a field of a message that is none': [{ messages: [{ ...hello, colour: 1 }] }, { param: 'messages.0.colour' }],
    },
  },
  {
    field: 'messages of every role',
    taken: {
      'all four': {
        messages: [
          { role: 'system', content: 'Be short.' },
          hello,
          { role: 'assistant', content: null, tool_calls: [call], reasoning_content: 'I should look.' },
          { role: 'tool', tool_call_id: 'call_1', content: 'seen' },
          { role: 'assistant', content: 'I see.', reasoning: 'It was seen.' },
          user([{ type: 'text', text: 'Thanks.' }]),
        ],
      },
      'a developer': { messages: [{ role: 'developer', content: 'Be short.' }, hello] },
    },
    refused: {
      'a tool message that answers nothing': [
        { messages: [hello, { role: 'tool', content: 'seen' }] },
        { param: 'messages.1.tool_call_id' },
      ],
      'a tool call without a name': [
        { messages: [{ role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: { arguments: '' } }] }] },
        { param: 'messages.0.tool_calls.0.function.name' },
      ],
      'reasoning that is no text': [
        { messages: [{ role: 'assistant', content: 'x', reasoning_content: {} }] },
        { param: 'messages.0.reasoning_content' },
      ],
    },
  },
  {
    field: 'stream',
    taken: { yes: { stream: true }, no: { stream: false } },
    refused: { 'a word': { stream: 'yes' } },
  },
  {
    field: 'stream_options',
    taken: {
      usage: { stream: true, stream_options: { include_usage: true } },
      'without stream': { stream_options: {} },
    },
    refused: {
      'of the wrong type': { stream_options: true },
      'with an unknown field': [{ stream_options: { loud: true } }, { param: 'stream_options.loud' }],
    },
  },
  {
    field: 'max_tokens',
    taken: { none: { max_tokens: 0 }, one: { max_tokens: 1 }, 'as many as the model gives': { max_tokens: 4096 } },
    refused: {
      'one less than none': { max_tokens: -1 },
      'one more than the model gives': [{ max_tokens: 4097 }, { status: 422, code: 'context_limit' }],
      'more than the model gives, and no more than anybody': [
        { max_tokens: 8192 },
        { status: 422, code: 'context_limit' },
      ],
      'one more than anybody gives': { max_tokens: 8193 },
      'a part of one': { max_tokens: 1.5 },
      'another cap beside it': [{ max_tokens: 5, max_completion_tokens: 6 }, { param: 'max_completion_tokens' }],
    },
  },
  {
    field: 'temperature',
    taken: { 0: { temperature: 0 }, 2: { temperature: 2 } },
    refused: { 'below 0': { temperature: -0.01 }, 'above 2': { temperature: 2.01 }, 'a word': { temperature: '1' } },
  },
  {
    field: 'top_p',
    taken: { 'just above 0': { top_p: 0.0001 }, 1: { top_p: 1 } },
    refused: { 0: { top_p: 0 }, 'above 1': { top_p: 1.0001 } },
  },
  { field: 'n', taken: { 1: { n: 1 } }, refused: { 0: { n: 0 }, 2: { n: 2 }, 'a word': { n: '1' } } },
  {
    field: 'seed',
    taken: { 'a number': { seed: 7 }, 'below zero': { seed: -7 } },
    refused: { 'a part of one': { seed: 0.5 }, 'a word': { seed: 'seven' } },
  },
  {
    field: 'stop',
    taken: {
      'one character': { stop: 'x' },
      'sixty-four': { stop: 'x'.repeat(64) },
      'sixty-four that are two units each': { stop: '😀'.repeat(64) },
      'four sequences': { stop: ['a', 'b', 'c', 'd'.repeat(64)] },
    },
    refused: {
      'no character': { stop: '' },
      'sixty-five': { stop: 'x'.repeat(65) },
      'sixty-five in a list': [{ stop: ['a', '😀'.repeat(65)] }, { param: 'stop.1' }],
      'five sequences': { stop: ['a', 'b', 'c', 'd', 'e'] },
      'a number': { stop: 5 },
    },
  },
  {
    field: 'tools',
    taken: { 'sixty-four': toolCount(64), 'one byte under 32 KB': toolsOf(32 * KB - 1), none: { tools: [] } },
    refused: {
      'sixty-five': toolCount(65),
      '32 KB': toolsOf(32 * KB),
      'a nameless one': [{ tools: [{ type: 'function', function: {} }] }, { param: 'tools.0.function.name' }],
      'no list': { tools: tool() },
    },
  },
  {
    field: 'tool_choice',
    taken: {
      'a word': { tools: [tool()], tool_choice: 'auto' },
      'a word that only its provider knows': { tools: [tool()], tool_choice: 'validated' },
      'of no tools, where it asks for none': { tool_choice: 'auto' },
      'one byte under 2 KB': choiceOf(2 * KB - 1),
    },
    refused: {
      '2 KB': choiceOf(2 * KB),
      'of no tools, where it asks for one': { tool_choice: 'required' },
      'neither a word nor an object': { tools: [tool()], tool_choice: 7 },
    },
  },
  {
    field: 'response_format',
    taken: { text: { response_format: { type: 'text' } }, 'one byte under 8 KB': formatOf(8 * KB - 1) },
    refused: {
      '8 KB': formatOf(8 * KB),
      'of no known type': [{ response_format: { type: 'xml' } }, { param: 'response_format.type' }],
      'a word': { response_format: 'json' },
    },
  },
  {
    field: 'messages and forwarded fields',
    taken: {
      '128,000 bytes': forwardedOf(128_000),
      '128,000 bytes with an output cap': forwardedOf(128_000, { max_tokens: 4096 }),
      'fields that are not forwarded besides': { ...forwardedOf(128_000), metadata: { note: 'x'.repeat(5_000) } },
    },
    refused: {
      '128,001 bytes': [forwardedOf(128_001), { param: 'messages' }],
      '128,001 bytes with an output cap': [forwardedOf(128_001, { max_tokens: 4096 }), { param: 'messages' }],
      '128,001 bytes with a tool': [
        forwardedOf(128_001, { tools: [tool('look', 'x'.repeat(20_000))] }),
        { param: 'messages' },
      ],
    },
  },
  {
    field: 'any other',
    taken: { 'what means nothing': { user: 'me', temperature: null, frequency_penalty: 0, store: true } },
    refused: {
      'an unknown field': [{ colour: 'red' }, { param: 'colour' }],
      'a parameter that the model lacks': [{ logprobs: true }, { param: 'logprobs' }],
    },
  },
]
