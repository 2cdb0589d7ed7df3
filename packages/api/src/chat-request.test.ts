import fc from 'fast-check'
import { describe, expect, test, inject } from 'vitest'
import { readChatRequest } from './chat-request.ts'
import { Refusal, type RefusalBody } from './refusal.ts'

const hello = { role: 'user', content: 'Hello' }
const hellos = (count: number) => Array.from({ length: count }, () => hello)
const with_ = (fields: object) => ({ model: 'acme/swift', messages: [hello], ...fields })
const read = (fields: object) => readChatRequest(with_(fields))
const message = (fields: object) => read({ messages: [fields] })

function refusal(body: unknown): RefusalBody {
  try {
    readChatRequest(body)
  } catch (error) {
    if (error instanceof Refusal) return error.body
    throw error
  }
  throw new Error(`was accepted: ${JSON.stringify(body).slice(0, 200)}`)
}

/** JSON of exactly this many bytes, from a filler of the right length. */
function ofBytes(bytes: number, make: (filler: string) => unknown): unknown {
  return make('x'.repeat(bytes - Buffer.byteLength(JSON.stringify(make('')))))
}

const tool = (name = 'look_up', more: object = {}) => ({ type: 'function', function: { name, ...more } })
const tools = (count: number) => Array.from({ length: count }, (_, n) => tool(`tool_${n}`))
const toolsOfBytes = (bytes: number) => ofBytes(bytes, (description) => [tool('look_up', { description })])
const choiceOfBytes = (bytes: number) => ofBytes(bytes, (name) => ({ type: 'function', function: { name } }))
const formatOfBytes = (bytes: number) => ofBytes(bytes, (name) => ({ type: 'json_schema', json_schema: { name } }))
const emoji = '🧭' // one character, two UTF-16 units, four bytes

describe('every bound of rules §3.1 and §3.2 is accepted at its value and refused beyond it [invalid_request]', () => {
  const bounds: [what: string, field: string, within: unknown[], beyond: unknown[], param?: string][] = [
    ['messages', 'messages', [[hello], hellos(100)], [[], hellos(101)]],
    ['max_tokens', 'max_tokens', [0, 1, 8192], [-1, 8193]],
    ['max_completion_tokens', 'max_completion_tokens', [0, 8192], [-1, 8193]],
    ['temperature', 'temperature', [0, 0.7, 2], [-0.01, 2.01]],
    ['top_p', 'top_p', [Number.MIN_VALUE, 1], [0, 1.01]],
    ['n', 'n', [1], [0, 2]],
    ['seed', 'seed', [0, -5, 2 ** 53 + 2, 2 ** 63, -(2 ** 63)], [0.5, 2 ** 64, '7']],
    ['a stop sequence', 'stop', ['a', 'x'.repeat(64), emoji.repeat(64)], ['', 'x'.repeat(65), emoji.repeat(65)]],
    ['stop sequences', 'stop', [[], ['a', 'b', 'c', 'd']], [['a', 'b', 'c', 'd', 'e']]],
    ['each stop sequence', 'stop', [['x'.repeat(64)]], [['ok', '']], 'stop.1'],
    ['tools', 'tools', [tools(1), tools(64)], [tools(65)]],
    ['bytes of tools', 'tools', [toolsOfBytes(32 * 1024 - 1)], [toolsOfBytes(32 * 1024)]],
    [
      'the name of a tool',
      'tools',
      [[tool('a')], [tool('Z_-9'.repeat(16))]],
      [[tool('')], [tool('a'.repeat(65))], [tool('a b')]],
      'tools.0.function.name',
    ],
    ['bytes of response_format', 'response_format', [formatOfBytes(8 * 1024 - 1)], [formatOfBytes(8 * 1024)]],
    ['model', 'model', ['m', 'm'.repeat(256)], ['', 'm'.repeat(257)]],
    ['frequency_penalty', 'frequency_penalty', [-2, 2], [-2.1, 2.1]],
    ['presence_penalty', 'presence_penalty', [-2, 2], [-2.1, 2.1]],
    ['top_logprobs', 'top_logprobs', [0, 20], [-1, 21]],
    ['logit_bias', 'logit_bias', [{}, { 50256: -100, 11: 100 }], [{ 11: 101 }], 'logit_bias.11'],
  ]
  // spec: 4.2/r2, 4.2/r5, 4.2/r6, 4.2/r7, 4.2/r8, 4.2/r9, 4.2/r10, 4.2/r11, 4.2/r13, 8.1/r1, 8.1/r2, 8.1/r3, 8.1/r4
  // spec: 8.1/r5, 8.1/r6, 8.1/r7, 8.1/r9
  test.each(bounds)('%s', (_what, field, within, beyond, param = field) => {
    for (const value of within) expect(() => read({ [field]: value })).not.toThrow()
    for (const value of beyond)
      expect(refusal(with_({ [field]: value }))).toMatchObject({ code: 'invalid_request', param })
  })

  // spec: 4.2/r12, 8.1/r8
  test('bytes of tool_choice', () => {
    expect(() => read({ tools: tools(1), tool_choice: choiceOfBytes(2047) })).not.toThrow()
    expect(refusal(with_({ tools: tools(1), tool_choice: choiceOfBytes(2048) })).param).toBe('tool_choice')
  })

  // spec: 4.2/s4, 8.1/r10
  test('128,000 bytes of messages plus forwarded parameters', () => {
    const body = (bytes: number, parameters: object) => {
      const rest = Buffer.byteLength(JSON.stringify({ messages: [{ role: 'user', content: '' }], ...parameters }))
      return with_({ messages: [{ role: 'user', content: 'x'.repeat(bytes - rest) }], ...parameters })
    }
    for (const parameters of [{}, { temperature: 0.5, stop: 'end' }, { tools: tools(3) }]) {
      expect(readChatRequest(body(128_000, parameters)).promptSize.bytes).toBe(128_000)
      const refused = refusal(body(128_001, parameters))
      expect(refused).toMatchObject({ code: 'invalid_request', param: 'messages' })
      expect(refused.message).toContain('128001 bytes, more than 128000')
    }
  })

  test('the output cap counts as a forwarded parameter under either of its names', () => {
    const rest = Buffer.byteLength(
      JSON.stringify({ messages: [{ role: 'user', content: '' }], temperature: 1, max_tokens: 8192 }),
    )
    for (const name of ['max_tokens', 'max_completion_tokens']) {
      const of = (bytes: number) =>
        with_({ messages: [{ role: 'user', content: 'x'.repeat(bytes - rest) }], temperature: 1, [name]: 8192 })
      expect(() => readChatRequest(of(128_000))).not.toThrow()
      const refused = refusal(of(128_001))
      expect(refused).toMatchObject({ code: 'invalid_request', param: 'messages' })
      expect(refused.message).toContain('128001 bytes, more than 128000')
    }
  })

  test('fields that are not forwarded do not count', () => {
    const filler = 'x'.repeat(127_900)
    expect(() =>
      read({ messages: [{ role: 'user', content: filler }], user: filler, metadata: { filler } }),
    ).not.toThrow()
  })

  test('bytes are counted in UTF-8', () => {
    expect(() => message({ role: 'user', content: 'ä'.repeat(63_900) })).not.toThrow()
    expect(refusal(with_({ messages: [{ role: 'user', content: 'ä'.repeat(64_100) }] })).param).toBe('messages')
  })
})

describe('promptSize', () => {
  test('measures the forwarded JSON', () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }
    const request = read({
      messages: [hello, { role: 'user', content: [image, { type: 'text', text: emoji }, image] }],
      tools: tools(2),
      max_tokens: 7,
      stream: true,
    })
    expect(request.promptSize).toEqual({
      bytes: Buffer.byteLength(JSON.stringify(request.forwarded)),
      messages: 2,
      tools: 2,
      images: 2,
      files: 0,
    })
    expect(request.forwardedJson).toBe(JSON.stringify(request.forwarded))
  })

  test('counts the UTF-8 bytes of any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (content) => {
        const { promptSize, forwardedJson } = message({ role: 'user', content })
        expect(promptSize.bytes).toBe(Buffer.from(forwardedJson, 'utf8').length)
        expect(JSON.parse(forwardedJson)).toEqual({ messages: [{ role: 'user', content }] })
      }),
    )
  })
})

describe('readChatRequest treats as absent (rules §3.3)', () => {
  const fields = [
    'stream',
    'stream_options',
    'max_tokens',
    'max_completion_tokens',
    'temperature',
    'top_p',
    'n',
    'seed',
    'stop',
  ]
  const more = [
    'tools',
    'tool_choice',
    'response_format',
    'project_id',
    'user',
    'frequency_penalty',
    'logprobs',
    'verbosity',
  ]
  test.each([...fields, ...more])('%s: null', (field) => {
    expect(read({ [field]: null })).toEqual(read({}))
  })

  test('an empty list of tools, and a zero penalty', () => {
    expect(read({ tools: [], frequency_penalty: 0, presence_penalty: -0 })).toEqual(read({}))
  })

  test('null fields of a message, except its content', () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'look_up', arguments: '{}' } }
    const sent = { role: 'assistant', content: null, refusal: null, name: null, audio: null, tool_calls: [call] }
    expect(message(sent).forwarded.messages).toEqual([{ role: 'assistant', content: null, tool_calls: [call] }])
    expect(refusal(with_({ messages: [{ role: 'user', content: null }] })).param).toBe('messages.0.content')
  })

  test('a null model and null messages, which are then missing', () => {
    expect(refusal(with_({ model: null }))).toMatchObject({
      param: 'model',
      message: expect.stringContaining('is missing') as string,
    })
    expect(refusal(with_({ messages: null })).param).toBe('messages')
  })
})

describe('readChatRequest', () => {
  test('fills in the defaults', () => {
    expect(read({})).toMatchObject({
      model: 'acme/swift',
      stream: false,
      includeUsage: false,
      projectId: null,
      maxTokens: null,
    })
  })

  // spec: 4.2/r3, 4.2/r4
  test('reads stream, stream_options, project_id and max_tokens, and forwards none of them', () => {
    const request = read({ stream: true, stream_options: { include_usage: true }, project_id: 'prj_1', max_tokens: 12 })
    expect(request).toMatchObject({ stream: true, includeUsage: true, projectId: 'prj_1', maxTokens: 12 })
    expect(Object.keys(request.forwarded)).toEqual(['messages'])
  })

  test('tells max_tokens 0 from an absent one', () => expect(read({ max_tokens: 0 }).maxTokens).toBe(0))

  test('reads max_completion_tokens as max_tokens, and refuses two different values', () => {
    expect(read({ max_completion_tokens: 9 }).maxTokens).toBe(9)
    expect(read({ max_tokens: 9, max_completion_tokens: 9 }).maxTokens).toBe(9)
    expect(refusal(with_({ max_tokens: 9, max_completion_tokens: 8 })).param).toBe('max_completion_tokens')
  })

  test('reads the names that OpenRouter has for reasoning_effort and include_usage', () => {
    expect(read({ reasoning: { effort: 'low', exclude: false } })).toEqual(read({ reasoning_effort: 'low' }))
    expect(read({ reasoning: {} })).toEqual(read({}))
    expect(read({ usage: { include: true } }).includeUsage).toBe(true)
    expect(refusal(with_({ reasoning_effort: 'low', reasoning: { effort: 'high' } })).param).toBe('reasoning.effort')
  })

  test('forwards the sampling of open models without listing it as conditional', () => {
    const sampling = { top_k: 40, top_a: 0.5, min_p: 0.05, repetition_penalty: 1.1 }
    const request = read(sampling)
    expect(request.conditional).toEqual([])
    expect(request.forwarded).toMatchObject(sampling)
  })

  test('refuses a tool_choice that needs tools if there are none', () => {
    const named = { type: 'function', function: { name: 'look_up' } }
    for (const tool_choice of ['required', named])
      for (const more of [{}, { tools: [] }]) expect(refusal(with_({ tool_choice, ...more })).param).toBe('tool_choice')
    for (const tool_choice of ['auto', 'none'])
      for (const more of [{}, { tools: [] }, { tools: null }])
        expect(read({ tool_choice, ...more }).forwarded).toEqual(read({}).forwarded)
  })

  // spec: 4.2/r12, 8.1/r8
  test('forwards any string as tool_choice and leaves its meaning to the provider', () => {
    expect(read({ tools: tools(1), tool_choice: 'validated' }).forwarded).toMatchObject({ tool_choice: 'validated' })
    expect(refusal(with_({ tools: tools(1), tool_choice: 'x'.repeat(2 * 1024) })).param).toBe('tool_choice')
  })

  test('treats the response format `text` as the default, so a model need not list it', () => {
    expect(read({ response_format: { type: 'text' } })).toEqual(read({}))
    expect(read({ response_format: { type: 'json_object' } }).conditional).toEqual(['response_format'])
  })

  test('forwards a seed as the digits of a 64-bit integer', () => {
    const sent = (seed: number) => /"seed":(-?\d+)\}/.exec(read({ seed }).forwardedJson)![1]
    expect([7, -7, 2 ** 53 + 2].map(sent)).toEqual(['7', '-7', '9007199254740994'])
    // JSON.parse reads 9223372036854775807 and its negative as a number whose digits exceed 64 bits.
    for (const seed of [2 ** 63, -(2 ** 63)]) expect(BigInt.asIntN(64, BigInt(sent(seed)!))).toBe(BigInt(sent(seed)!))
  })

  test('forwards the role developer as system', () => {
    expect(message({ role: 'developer', content: 'Be brief.' }).forwarded.messages).toEqual([
      { role: 'system', content: 'Be brief.' },
    ])
  })

  test('ignores fields of stock clients that change no response', () => {
    const ignored = [
      'user',
      'metadata',
      'store',
      'service_tier',
      'safety_identifier',
      'prompt_cache_key',
      'prompt_cache_retention',
    ]
    const sent = Object.fromEntries(ignored.map((field) => [field, { anything: [1] }]))
    expect(read(sent)).toEqual(read({}))
    expect(read({ stream_options: { include_obfuscation: false } })).toEqual(read({}))
  })

  test('lists the conditional parameters in use, and forwards each parameter unchanged', () => {
    const conditional = {
      tools: [
        tool('look_up', { parameters: { type: 'object', properties: { b: {}, a: { default: null } } }, strict: true }),
      ],
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { z: 1, a: null } } },
      parallel_tool_calls: false,
      frequency_penalty: 0.1,
      presence_penalty: -0.1,
      logit_bias: { 11: 5 },
      logprobs: true,
      top_logprobs: 3,
      reasoning_effort: 'low',
      verbosity: 'high',
      stop: ['a'],
    }
    const others = { temperature: 0, top_p: 1, seed: 7, tool_choice: 'auto' }
    const request = read({ ...conditional, ...others })
    expect(request.conditional.toSorted()).toEqual(Object.keys(conditional).toSorted())
    expect(JSON.parse(request.forwardedJson)).toEqual({ messages: [hello], ...conditional, ...others })
    expect(read({ temperature: 0, tools: [] }).conditional).toEqual([])
  })

  test('lists stop and tool_choice as conditional, except tool_choice auto', () => {
    const tools = [{ type: 'function', function: { name: 'look' } }]
    expect(read({ stop: 'x' }).conditional).toEqual(['stop'])
    expect(read({ tools, tool_choice: 'required' }).conditional).toEqual(['tools', 'tool_choice'])
    expect(read({ tools, tool_choice: 'auto' }).conditional).toEqual(['tools'])
  })

  // spec: 4.2/r2, 4.2/s2, 8.1/r1
  test('accepts messages of every role with every field that our responses have', () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'look_up', arguments: '{"q":1}' } }
    const messages = [
      { role: 'system', content: [{ type: 'text', text: 'Be brief.' }], name: 'stack' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look' },
          { type: 'image_url', image_url: { url: 'https://example.test/a.webp', detail: 'low' } },
        ],
        name: 'ann',
      },
      { role: 'assistant', content: null, tool_calls: [call], reasoning_content: 'hm', reasoning: 'hm' },
      { role: 'tool', content: 'found', tool_call_id: 'call_1' },
      { role: 'tool', content: [{ type: 'text', text: 'found' }], tool_call_id: 'call_2', name: 'look_up' },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'It is' },
          { type: 'refusal', refusal: 'No.' },
        ],
        refusal: 'No.',
      },
      { role: 'assistant', tool_calls: [call] },
    ]
    expect(read({ messages }).forwarded.messages).toEqual(messages)
  })

  test('adds the type to a tool call that some clients send without it', () => {
    const call = { id: 'call_1', function: { name: 'look_up', arguments: '' } }
    expect(message({ role: 'assistant', tool_calls: [call] }).forwarded.messages).toEqual([
      { role: 'assistant', tool_calls: [{ ...call, type: 'function' }] },
    ])
  })
})

describe('a refusal names the field, the fault and the rule in plain words [invalid_request]', () => {
  const part = { type: 'text', text: 'x' }
  const table: [body: unknown, param: string | null, message: string][] = [
    [null, null, 'The body is not a JSON object.'],
    [[], null, 'The body is not a JSON object.'],
    ['text', null, 'The body is not a JSON object.'],
    [{}, 'model', 'model is missing, and must be a string.'],
    [{ model: 'm' }, 'messages', 'messages is missing, and must be an array.'],
    [with_({ model: 5 }), 'model', 'model is 5, and must be a string.'],
    [with_({ messages: 'hi' }), 'messages', 'messages is "hi", and must be an array.'],
    [with_({ messages: [] }), 'messages', 'messages must not be empty.'],
    [with_({ messages: hellos(101) }), 'messages', 'messages has 101 entries, and must have at most 100 entries.'],
    [with_({ messages: ['hi'] }), 'messages.0', 'messages.0 is "hi", and must be an object.'],
    [
      with_({ messages: [hello, { content: 'x' }] }),
      'messages.1.role',
      'messages.1.role is missing, and must be one of "system", "developer", "user", "assistant", "tool".',
    ],
    [
      with_({ messages: [{ role: 'robot', content: 'x' }] }),
      'messages.0.role',
      'messages.0.role is "robot", and must be one of "system", "developer", "user", "assistant", "tool".',
    ],
    [
      with_({ messages: [{ role: 'user' }] }),
      'messages.0.content',
      'messages.0.content is missing, and must be a string or an array.',
    ],
    [
      with_({ messages: [{ role: 'user', content: 5 }] }),
      'messages.0.content',
      'messages.0.content is 5, and must be a string or an array.',
    ],
    [
      with_({ messages: [{ role: 'user', content: {} }] }),
      'messages.0.content',
      'messages.0.content is an object, and must be a string or an array.',
    ],
    [
      with_({ messages: [{ role: 'user', content: [] }] }),
      'messages.0.content',
      'messages.0.content must not be empty.',
    ],
    [
      with_({ messages: [{ role: 'user', content: [part, { type: 'video' }] }] }),
      'messages.0.content.1.type',
      'messages.0.content.1.type is "video", and must be one of "text", "image_url", "file".',
    ],
    [
      with_({ messages: [{ role: 'user', content: [part, { type: 'text' }] }] }),
      'messages.0.content.1.text',
      'messages.0.content.1.text is missing, and must be a string.',
    ],
    [
      with_({ messages: [{ role: 'system', content: [{ type: 'image_url' }] }] }),
      'messages.0.content.0.type',
      'messages.0.content.0.type is "image_url", and must be "text".',
    ],
    [
      with_({ messages: [{ role: 'tool', content: 'x' }] }),
      'messages.0.tool_call_id',
      'messages.0.tool_call_id is missing, and must be a string.',
    ],
    [
      with_({ messages: [{ ...hello, cache_control: { type: 'forever' } }] }),
      'messages.0.cache_control.type',
      'messages.0.cache_control.type is "forever", and must be "ephemeral".',
    ],
    [
      with_({
        messages: [{ role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: { arguments: '' } }] }],
      }),
      'messages.0.tool_calls.0.function.name',
      'messages.0.tool_calls.0.function.name is missing, and must be a string.',
    ],
    [
      with_({ messages: [{ role: 'assistant', content: 'x', reasoning_content: {} }] }),
      'messages.0.reasoning_content',
      'messages.0.reasoning_content is an object, and must be a string.',
    ],
    [with_({ project_id: 7 }), 'project_id', 'project_id is 7, and must be a string.'],
    [with_({ stream_options: true }), 'stream_options', 'stream_options is true, and must be an object.'],
    [with_({ stream_options: { loud: true } }), 'stream_options.loud', 'stream_options.loud is not a known field.'],
    [with_({ tools: tool() }), 'tools', 'tools is an object, and must be an array.'],
    [with_({ colour: 'blue' }), 'colour', 'colour is not a known field.'],
    ...['logit_bias', 'response_format', 'tool_choice', 'metadata'].map((field): [object, string, string] => [
      with_({ [field]: Object.fromEntries(Array.from({ length: 1_025 }, (_, n) => [n, 0])) }),
      field,
      `${field} has 1025 entries, more than 1024.`,
    ]),
    [with_({ temperature: '1' }), 'temperature', 'temperature is "1", and must be a number.'],
    [with_({ temperature: 2.5 }), 'temperature', 'temperature is 2.5, and must be at most 2.'],
    [with_({ top_p: 0 }), 'top_p', 'top_p is 0, and must be more than 0.'],
    [with_({ max_tokens: 1.5 }), 'max_tokens', 'max_tokens is 1.5, and must be an integer.'],
    [with_({ max_tokens: 9000 }), 'max_tokens', 'max_tokens is 9000, and must be at most 8192.'],
    [with_({ n: 3 }), 'n', 'n must be 1: one completion is charged per request.'],
    [with_({ stream: 'yes' }), 'stream', 'stream is "yes", and must be true or false.'],
    [with_({ stream: 'y'.repeat(500) }), 'stream', 'stream is a longer string, and must be true or false.'],
    [with_({ stop: 5 }), 'stop', 'stop is 5, and must be a string or an array.'],
    [with_({ stop: ['ok', 5] }), 'stop.1', 'stop.1 is 5, and must be a string.'],
    [with_({ stop: ['a', 'b', 'c', 'd', 'e'] }), 'stop', 'stop has 5 entries, and must have at most 4 entries.'],
    [with_({ model: 'm'.repeat(300) }), 'model', 'model has 300 characters, and must have at most 256 characters.'],
    [with_({ tools: tools(1), tool_choice: 7 }), 'tool_choice', 'tool_choice is 7, and must be a string or an object.'],
    [
      with_({ tools: [{ type: 'web_search' }] }),
      'tools.0.type',
      'tools.0.type is "web_search", and must be "function".',
    ],
    [
      with_({ response_format: { type: 'xml' } }),
      'response_format.type',
      'response_format.type is "xml", and must be one of "text", "json_object", "json_schema".',
    ],
    [with_({ response_format: 'json' }), 'response_format', 'response_format is "json", and must be an object.'],
  ]
  // spec: 4.2/r1, 4.2/r2, 4.2/r3, 4.2/r13, 4.2/s2, 8.1/r1, 8.1/r9
  test.each(table)('%#: %j', (body, param, message) => {
    const refused = refusal(body)
    expect(refused).toMatchObject({ code: 'invalid_request', param, message })
    expect(refused.resolution).toMatch(/^(Correct|Send) .+\.$/)
  })

  test('treats a field named __proto__ like any other', () => {
    const body = (json: string) => JSON.parse(json) as unknown
    const inner = '{"model":"m","messages":[{"role":"user","content":"x"}]}'
    expect(refusal(body(`{"__proto__":${inner}}`)).code).toBe('invalid_request')
    expect(refusal(body(`{"model":"m","messages":[{"role":"user","content":"x"}],"__proto__":{}}`)).param).toBe(
      '__proto__',
    )
    const [message] = readChatRequest(body(`{"model":"m","messages":[{"role":"user","content":"x","__proto__":{}}]}`))
      .forwarded.messages
    expect(message).toEqual({ role: 'user', content: 'x' })
  })

  test('shortens a very long field name', () => {
    expect(refusal(with_({ ['x'.repeat(100_000)]: 1 })).param!.length).toBeLessThanOrEqual(200)
  })

  test('any JSON is either read or refused in plain words', () => {
    const value = fc.jsonValue({ maxDepth: 4 })
    const role = fc.constantFrom('system', 'user', 'assistant', 'tool', 'developer', 'x')
    const content = fc.oneof(
      value,
      fc.array(fc.record({ type: fc.constantFrom('text', 'image_url', 'refusal'), text: value })),
    )
    const some = fc.record(
      { role, content, tool_calls: value, name: value, tool_call_id: value },
      { requiredKeys: ['role'] },
    )
    const names = [
      'model',
      'stream',
      'max_tokens',
      'temperature',
      'stop',
      'tools',
      'tool_choice',
      'response_format',
      'logit_bias',
      'x',
    ]
    const fields = fc.dictionary(fc.constantFrom(...names), value)
    fc.assert(
      fc.property(fc.array(some, { maxLength: 3 }), fields, (messages, fields) => {
        const body: unknown = { model: 'm', messages, ...fields }
        let refused: RefusalBody
        try {
          return void readChatRequest(body)
        } catch (error) {
          refused = (error as Refusal).body
        }
        expect(refused.code).toBe('invalid_request')
        // The quoted parts come from the sender, and so may a part of the parameter's name.
        const about = refused.param ?? 'body'
        expect(refused.message).toContain(about)
        const words = refused.message.replace(about, '').replaceAll(/"(?:[^"\\]|\\.)*"/g, '')
        expect(words).not.toMatch(/Invalid|expected|received|undefined|nonoptional|Too (big|small)|\[object/)
        expect(words).not.toContain('\u0000')
      }),
      { numRuns: 3_000 * inject('propertyShare') },
    )
  })
})

describe('a message that a stock client sends back', () => {
  test('is forwarded without an empty list of tool calls', () => {
    const [sent] = message({ role: 'assistant', content: 'Hello', tool_calls: [] }).forwarded.messages
    expect(sent).toEqual({ role: 'assistant', content: 'Hello' })
  })

  test('is forwarded without the fields that the client or another provider added', () => {
    const called = { name: 'look_up', arguments: '{}' }
    const sent = {
      role: 'assistant',
      content: [{ type: 'text', text: '{"a":1}', role: 'assistant', annotations: [] }],
      parsed: { a: 1 },
      annotations: [{ type: 'url_citation' }],
      audio: null,
      function_call: null,
      tool_calls: [{ index: 0, id: 'c', type: 'function', function: { ...called, parsed_arguments: {} } }],
    }
    expect(message(sent).forwarded.messages).toEqual([
      {
        role: 'assistant',
        content: [{ type: 'text', text: '{"a":1}' }],
        tool_calls: [{ id: 'c', type: 'function', function: called }],
      },
    ])
    const image = { type: 'image_url', image_url: { url: 'https://example.test/a.png', alt: 'A river' }, id: 'p1' }
    expect(message({ role: 'user', content: [image], id: 'm1' }).forwarded.messages).toEqual([
      { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://example.test/a.png' } }] },
    ])
  })

  test('is forwarded without the reasoning that only its provider can read', () => {
    const ours = { type: 'reasoning.encrypted', data: 'sealed' }
    const theirs = [
      { type: 'reasoning.summary', summary: 'hm', format: 'openai-responses-v1' },
      { type: 'reasoning.text', text: 'hm', signature: null },
    ]
    const forwarded = (details: object[]) =>
      message({ role: 'assistant', content: 'Hello', reasoning_details: details }).forwarded.messages
    expect(forwarded([...theirs, { ...ours, index: 0 }])).toEqual([
      { role: 'assistant', content: 'Hello', reasoning_details: [ours] },
    ])
    expect(forwarded(theirs)).toEqual([{ role: 'assistant', content: 'Hello' }])
  })

  test('is forwarded with the cache marks of its parts and tools', () => {
    const cache_control = { type: 'ephemeral', ttl: '1h' }
    const messages = [
      { role: 'system', content: 'Be brief.', cache_control },
      { role: 'user', content: [{ type: 'text', text: 'Hello', cache_control }] },
    ]
    const tools = [{ ...tool(), cache_control }]
    expect(read({ messages, tools }).forwarded).toEqual({ messages, tools })
  })
})
