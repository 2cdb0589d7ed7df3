import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AnswerMessage, ChunkChoice, Delta, FinishReason } from '../../chat-answer.ts'
import { Refusal, refuse } from '../../refusal.ts'
import type { AnswerWriter } from '../wire.ts'
import { messageEventShape, messageShape } from './messages-shapes.ts'
import { countTokensWire, messagesWire } from './messages-wire.ts'
import { nameOfField } from './read-messages.ts'
import { anyMessage } from '../any-message.fixture.ts'

const FACTS = { id: 'inv_1', model: 'acme/swift', created: 1_700_000_000 }
const USAGE = {
  promptTokens: 10,
  completionTokens: 2,
  details: { prompt: { cached_tokens: 3, cache_write_tokens: 4 } },
}
const END = { usage: USAGE, chargedMicro: 5 }
const USED = { input_tokens: 3, cache_read_input_tokens: 3, cache_creation_input_tokens: 4, output_tokens: 2 }

const hi = [{ role: 'user', content: 'hi' }]
const read = (body: object) => messagesWire.read({ model: 'acme/swift', max_tokens: 50, messages: hi, ...body })
const forwardedOf = (body: object) => read(body).request.forwarded
const messagesOf = (...messages: object[]) => forwardedOf({ messages }).messages
const chunk = (delta: Delta, finish: FinishReason | null = null): ChunkChoice[] => [
  { index: 0, delta, finish_reason: finish },
]
const call = (index: number, more: object) => ({ index, ...more })

/** Writes the chunks as a stream and returns its events, each checked against its shape and its block. */
function eventsOf(answer: AnswerWriter, chunks: ChunkChoice[][], end = () => answer.end(END)) {
  const text = chunks.map((choices) => answer.chunk(choices)).join('') + end()
  const events = text
    .split('\n\n')
    .filter(Boolean)
    .map((event) => {
      const [, name, data] = /^event: (\S+)\ndata: (.*)$/.exec(event)!
      const parsed = messageEventShape.parse(JSON.parse(data!))
      expect(parsed.type).toBe(name)
      return parsed
    })
  expectWholeBlocks(events)
  return events
}

/** Blocks are numbered from 0, one is open at a time, and its deltas lie between its start and its stop. */
function expectWholeBlocks(events: { type: string; index?: number }[]): void {
  let started = -1
  let open: number | null = null
  for (const { type, index } of events) {
    if (type === 'content_block_start') {
      expect([open, index]).toEqual([null, ++started])
      open = started
    } else if (index !== undefined) expect(index).toBe(open)
    if (type === 'content_block_stop') open = null
  }
  expect(open).toBeNull()
}

/** The events in short: `start text 0`, `text_delta Hel`, `stop 0`. */
const shortOf = (events: ReturnType<typeof eventsOf>) =>
  events.map((event) => {
    if (event.type === 'content_block_start') return `start ${event.content_block.type} ${event.index}`
    if (event.type === 'content_block_stop') return `stop ${event.index}`
    if (event.type === 'content_block_delta') return Object.values(event.delta).join(' ')
    return event.type
  })

function refusalOf(body: object): [string, string | null, string] {
  try {
    read(body)
  } catch (error) {
    if (error instanceof Refusal) return [error.code, error.body.param, error.body.message]
    throw error
  }
  throw new Error('nothing was refused')
}

describe('a request', () => {
  test('has its instructions, texts and images as chat messages, with their cache marks', () => {
    const mark = { type: 'ephemeral' } as const
    const { messages } = forwardedOf({
      system: [{ type: 'text', text: 'Be brief.', cache_control: mark }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'what?', citations: null },
            { type: 'image', source: { type: 'url', url: 'https://example.test/a.png' }, cache_control: mark },
            { type: 'document', title: 'Notes', source: { type: 'text', media_type: 'text/plain', data: 'Rivers.' } },
          ],
        },
        { role: 'assistant', content: 'It is' },
      ],
      cache_control: { type: 'ephemeral', ttl: '1h' },
    })
    expect(messages).toEqual([
      { role: 'system', content: [{ type: 'text', text: 'Be brief.', cache_control: mark }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'what?' },
          { type: 'image_url', image_url: { url: 'https://example.test/a.png' }, cache_control: mark },
          { type: 'text', text: 'Notes\nRivers.' },
        ],
      },
      { role: 'assistant', content: 'It is', cache_control: { type: 'ephemeral', ttl: '1h' } },
    ])
  })

  test('has the results of tools before the rest of a message, and their images in it', () => {
    const image = { type: 'image', source: { type: 'url', url: 'asset:ast_1' } }
    expect(
      messagesOf(
        ...hi,
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm', signature: 'sealed' },
            { type: 'redacted_thinking', data: '{"type":"reasoning.encrypted","data":"x"}' },
            { type: 'redacted_thinking', data: 'of another service' },
            { type: 'text', text: 'I look.' },
            { type: 'tool_use', id: 'call_a', name: 'look', input: { q: 1 } },
            { type: 'tool_use', id: 'call_b', name: 'draw', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Continue.' },
            { type: 'tool_result', tool_use_id: 'call_a', content: 'no such file', is_error: true },
            { type: 'tool_result', tool_use_id: 'call_b', content: [{ type: 'text', text: 'drawn' }, image] },
          ],
        },
      ).slice(1),
    ).toEqual([
      {
        role: 'assistant',
        content: [{ type: 'text', text: 'I look.' }],
        tool_calls: [
          { id: 'call_a', type: 'function', function: { name: 'look', arguments: '{"q":1}' } },
          { id: 'call_b', type: 'function', function: { name: 'draw', arguments: '{}' } },
        ],
        reasoning_details: [
          { type: 'reasoning.text', text: 'Hm', signature: 'sealed' },
          { type: 'reasoning.encrypted', data: 'x' },
        ],
      },
      { role: 'tool', content: 'Error: no such file', tool_call_id: 'call_a' },
      { role: 'tool', content: 'drawn', tool_call_id: 'call_b' },
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: 'asset:ast_1' } },
          { type: 'text', text: 'Continue.' },
        ],
      },
    ])
  })

  test('translates tools and settings', () => {
    const schema = { type: 'object', properties: {} }
    const tools = [{ name: 'look', description: 'Looks', input_schema: schema, cache_control: { type: 'ephemeral' } }]
    const { request } = read({
      stop_sequences: ['END'],
      temperature: 0.5,
      top_k: 5,
      tools,
      tool_choice: { type: 'tool', name: 'look', disable_parallel_tool_use: true },
      output_config: { format: { type: 'json_schema', schema } },
      thinking: { type: 'enabled', budget_tokens: 5_000 },
      metadata: { user_id: 'u' },
      context_management: { edits: [] },
      stream: true,
    })
    expect(request).toMatchObject({ maxTokens: 50, stream: true })
    expect(request.forwarded).toEqual({
      messages: hi,
      temperature: 0.5,
      top_k: 5,
      stop: ['END'],
      tools: [
        {
          type: 'function',
          function: { name: 'look', description: 'Looks', parameters: schema },
          cache_control: { type: 'ephemeral' },
        },
      ],
      tool_choice: { type: 'function', function: { name: 'look' } },
      parallel_tool_calls: false,
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } },
      reasoning_effort: 'medium',
    })
    const choices = [{ type: 'any' }, { type: 'auto' }, { type: 'none' }]
    expect(choices.map((choice) => forwardedOf({ tools, tool_choice: choice })['tool_choice'])).toEqual([
      'required',
      'auto',
      'none',
    ])
  })

  test.for([
    [{ thinking: { type: 'enabled', budget_tokens: 1_024 } }, 'low'],
    [{ thinking: { type: 'enabled', budget_tokens: 31_999 } }, 'high'],
    [{ thinking: { type: 'adaptive' } }, 'medium'],
    [{ thinking: { type: 'adaptive' }, output_config: { effort: 'max' } }, 'max'],
    [{ thinking: { type: 'disabled' }, output_config: { effort: 'high' } }, 'none'],
    [{}, undefined],
  ] as const)('thinks with an effort, which models without reasoning ignore: %j', ([body, effort]) => {
    const { request } = read(body)
    expect(request.forwarded['reasoning_effort']).toBe(effort)
    expect(request.conditional).toEqual([])
    expect(request.optional).toContain('reasoning_effort')
  })

  test('has the default cap of its model if max_tokens is above the bound of a call', () => {
    expect(read({ max_tokens: 8_192 }).request.maxTokens).toBe(8_192)
    expect(read({ max_tokens: 32_000 }).request.maxTokens).toBeNull()
  })

  test.for([
    [{ max_tokens: undefined }, 'max_tokens', 'missing'],
    [{ max_tokens: 0 }, 'max_tokens', 'at least 1'],
    [{ max_completion_tokens: 5 }, 'max_completion_tokens', 'is not a field of this wire'],
    [{ mcp_servers: [] }, 'mcp_servers', 'is not a known field'],
    [{ temperature: 1.5 }, 'temperature', 'at most 1'],
    [{ tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, 'tools.0.type', 'that Anthropic defines'],
    [{ tools: [{ name: 'a b', input_schema: {} }] }, 'tools.0.name', '1 to 64 characters'],
    [{ stop_sequences: ['a', 'b', 'c', 'd', 'e'] }, 'stop_sequences', 'at most 4'],
    [{ messages: [] }, 'messages', 'must not be empty'],
    [{ messages: [{ role: 'user', content: [{ type: 'audio' }] }] }, 'messages.0.content.0.type', 'must be one of'],
    [
      { messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'file', file_id: 'f' } }] }] },
      'messages.0.content.0.source.type',
      'must be one of',
    ],
    [{ messages: Array.from({ length: 101 }, () => hi[0]) }, 'messages', 'at most 100'],
    [{ tool_choice: { type: 'any' } }, 'tool_choice', 'without tools'],
  ] as const)('is refused by the name of its field: %j [invalid_request]', ([body, param, words]) => {
    expect(refusalOf(body)).toEqual(['invalid_request', param, expect.stringContaining(words) as string])
    expect(refusalOf(body)[2]).toContain(param)
  })

  test('names the block at fault, wherever its chat message has it [invalid_request]', () => {
    const bad = { type: 'image', source: { type: 'url', url: 'ftp://example.test' } }
    const result = (content: unknown) => ({ type: 'tool_result', tool_use_id: 'a', content })
    const paramOf = (content: object[]) => refusalOf({ messages: [...hi, { role: 'user', content }] })[1]
    expect(paramOf([{ type: 'text', text: 'a' }, result('b'), bad])).toBe('messages.1.content.2.source')
    expect(paramOf([result([{ type: 'text', text: 'a' }, bad])])).toBe('messages.1.content.0.content.1.source')
  })

  test('is read or refused for any value, never broken off', () => {
    const value = fc.anything()
    fc.assert(
      fc.property(fc.record({ messages: value, system: value, tools: value, thinking: value }), (body) => {
        try {
          messagesWire.read({ model: 'm', max_tokens: 1, ...body })
        } catch (error) {
          expect(error).toBeInstanceOf(Refusal)
          expect(Object.keys(body)).toContain((error as Refusal).body.param!.split('.')[0])
        }
      }),
    )
  })

  test('has the image data that was cut out of its body', () => {
    const source = { type: 'base64', media_type: 'image/png', data: 'PLACEHOLDER1' }
    const image = { type: 'image', source }
    const result = { type: 'tool_result', tool_use_id: 'a', content: [image] }
    const body = { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: [result, image] }] }
    expect([...messagesWire.dataOf(body)]).toEqual(['PLACEHOLDER1', 'PLACEHOLDER1'])
    const { attachments } = messagesWire.read(body, new Map([['PLACEHOLDER1', 'AAAA']])).request
    const cut = { kind: 'data', url: 'data:image/png;base64,AAAA', bytes: 3 }
    expect(attachments).toMatchObject([cut, cut])
  })

  test('has its PDF documents as files, also those of tool results', () => {
    const document = (source: object, more: object = {}) => ({ type: 'document', source, ...more })
    const inline = document({ type: 'base64', media_type: 'application/pdf', data: 'PLACEHOLDER1' }, { title: 'Terms' })
    const stored = document({ type: 'url', url: 'asset:ast_1' })
    const result = { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'Found' }, stored] }
    const calls = { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'find', input: {} }] }
    const messages = [...hi, calls, { role: 'user', content: [result, inline] }]
    const body = { model: 'm', max_tokens: 1, messages }
    expect([...messagesWire.dataOf(body)]).toEqual(['PLACEHOLDER1'])
    const { attachments, forwarded } = messagesWire.read(body, new Map([['PLACEHOLDER1', 'AAAA']])).request
    expect(attachments).toMatchObject([
      { part: 'file', kind: 'asset', asset: 'ast_1' },
      { part: 'file', kind: 'data', url: 'data:application/pdf;base64,AAAA' },
    ])
    expect(forwarded.messages.slice(2)).toMatchObject([
      { role: 'tool', content: 'Found' },
      { content: [{ file: { filename: 'document.pdf' } }, { file: { filename: 'Terms' } }] },
    ])
  })

  test('names the source of a document that it refuses', () => {
    const document = { type: 'document', source: { type: 'url', url: 'https://example.test/a.pdf' } }
    const refused = () =>
      messagesWire.read({ model: 'm', max_tokens: 1, messages: [{ role: 'user', content: [document] }] })
    expect(refused).toThrow(
      expect.objectContaining({ body: expect.objectContaining({ param: 'messages.0.content.0.source' }) }),
    )
  })

  test('whose tokens are only counted needs no max_tokens, and takes nothing that shapes an answer', () => {
    const counted = { model: 'm', messages: hi }
    expect(countTokensWire.read(counted).request.forwarded.messages).toEqual(hi)
    expect(() => countTokensWire.read({ ...counted, max_tokens: 5 })).toThrow(Refusal)
  })
})

describe('an answer', () => {
  test('of text has the documented sequence of events', () => {
    const events = eventsOf(read({}).openAnswer(FACTS), [
      chunk({ role: 'assistant', content: 'Hel' }),
      chunk({ content: 'lo' }),
      chunk({}, 'stop'),
    ])
    expect(shortOf(events)).toEqual([
      'message_start',
      'start text 0',
      'text_delta Hel',
      'text_delta lo',
      'stop 0',
      'message_delta',
      'message_stop',
    ])
    expect(events.at(-2)).toEqual({
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { ...USED, cost: 0.000005, cost_micro: 5 },
    })
  })

  test('has thinking with its signature, text and tool uses in order, each stopped before the next', () => {
    const events = eventsOf(read({}).openAnswer(FACTS), [
      chunk({ role: 'assistant', reasoning_content: 'Hm' }),
      chunk({ reasoning_details: [{ type: 'reasoning.text', text: 'Hm', signature: 'sealed' }] }),
      chunk({ reasoning_details: [{ type: 'reasoning.encrypted', data: 'x' }] }),
      chunk({ content: 'I look.' }),
      chunk({ tool_calls: [call(0, { id: 'call_a', function: { name: 'look', arguments: '' } })] }),
      chunk({ tool_calls: [call(0, { function: { arguments: '{"q":1}' } })] }),
      chunk({ tool_calls: [call(1, { id: 'call_b', function: { name: 'draw', arguments: '{}' } })] }),
      chunk({}, 'tool_calls'),
    ])
    expect(shortOf(events)).toEqual([
      'message_start',
      'start thinking 0',
      'thinking_delta Hm',
      'signature_delta sealed',
      'stop 0',
      'start redacted_thinking 1',
      'stop 1',
      'start text 2',
      'text_delta I look.',
      'stop 2',
      'start tool_use 3',
      'input_json_delta {"q":1}',
      'stop 3',
      'start tool_use 4',
      'input_json_delta {}',
      'stop 4',
      'message_delta',
      'message_stop',
    ])
    expect(events.at(-2)).toMatchObject({ delta: { stop_reason: 'tool_use' } })
  })

  test.for([
    ['alone', []],
    ['after a text', [chunk({ content: 'Hi' })]],
    ['after a tool call', [chunk({ tool_calls: [call(0, { id: 'call_a', function: { name: 'look' } })] })]],
  ] as const)('starts a block for a signature without a thought: %s', ([, before]) => {
    const sealed = chunk({ reasoning_details: [{ type: 'reasoning.text', text: '', signature: 'sealed' }] })
    const events = eventsOf(read({}).openAnswer(FACTS), [...before, sealed, chunk({ content: 'Nine.' }, 'stop')])
    const at = before.length
    expect(shortOf(events).slice(-8, -2)).toEqual([
      `start thinking ${at}`,
      'signature_delta sealed',
      `stop ${at}`,
      `start text ${at + 1}`,
      'text_delta Nine.',
      `stop ${at + 1}`,
    ])
  })

  test('keeps the arguments of interleaved tool calls apart', () => {
    const events = eventsOf(read({}).openAnswer(FACTS), [
      chunk({ tool_calls: [call(0, { id: 'call_a', function: { name: 'look', arguments: '{"q"' } })] }),
      chunk({ tool_calls: [call(1, { id: 'call_b', function: { name: 'draw', arguments: '{"p"' } })] }),
      chunk({ tool_calls: [call(0, { function: { arguments: ':1}' } })] }),
      chunk({ tool_calls: [call(1, { function: { arguments: ':2}' } })] }),
      chunk({}, 'tool_calls'),
    ])
    expect(shortOf(events).slice(1, -2)).toEqual([
      'start tool_use 0',
      'input_json_delta {"q"',
      'input_json_delta :1}',
      'stop 0',
      'start tool_use 1',
      'input_json_delta {"p":2}',
      'stop 1',
    ])
  })

  test('keeps a tool call whole around a text, a thought and a call that came before its end', () => {
    const events = eventsOf(read({}).openAnswer(FACTS), [
      chunk({ tool_calls: [call(0, { id: 'call_a', function: { name: 'look', arguments: '{"a":' } })] }),
      chunk({ content: '\n' }),
      chunk({ reasoning_content: 'Hm' }),
      chunk({ tool_calls: [call(1, { id: 'call_b', function: { name: 'draw', arguments: '{}' } })] }),
      chunk({ content: '', tool_calls: [call(0, { function: { arguments: '1}' } })] }),
      chunk({}, 'tool_calls'),
    ])
    expect(shortOf(events).slice(1, -2)).toEqual([
      'start tool_use 0',
      'input_json_delta {"a":',
      'input_json_delta 1}',
      'stop 0',
      'start text 1',
      'text_delta \n',
      'stop 1',
      'start thinking 2',
      'thinking_delta Hm',
      'stop 2',
      'start tool_use 3',
      'input_json_delta {}',
      'stop 3',
    ])
  })

  test('sends a text that came inside a tool call with the first one after it', () => {
    const chunks = [
      chunk({ tool_calls: [call(0, { id: 'call_a', function: { name: 'look', arguments: '{"a":' } })] }),
      chunk({ content: '\n' }),
      chunk({ tool_calls: [call(0, { function: { arguments: '1' } })] }),
      chunk({ content: ' ' }),
      chunk({ tool_calls: [call(0, { function: { arguments: '}' } })] }),
      chunk({ content: 'Hi' }),
      chunk({ content: '!' }),
    ]
    const answer = read({}).openAnswer(FACTS)
    expect(chunks.map((choices) => answer.chunk(choices) !== '')).toEqual([true, false, true, false, true, true, true])
    const events = eventsOf(read({}).openAnswer(FACTS), [...chunks, chunk({}, 'tool_calls')])
    expect(shortOf(events).slice(1, -2)).toEqual([
      'start tool_use 0',
      'input_json_delta {"a":',
      'input_json_delta 1',
      'input_json_delta }',
      'stop 0',
      'start text 1',
      'text_delta \n',
      'text_delta  ',
      'text_delta Hi',
      'text_delta !',
      'stop 1',
    ])
  })

  test('ignores what is left of a tool call whose block has ended', () => {
    const events = eventsOf(read({}).openAnswer(FACTS), [
      chunk({ tool_calls: [call(0, { id: 'call_a', function: { name: 'look', arguments: '{}' } })] }),
      chunk({ content: 'Hi' }),
      chunk({ tool_calls: [call(0, { function: { arguments: '' } })] }),
      chunk({}, 'tool_calls'),
    ])
    expect(shortOf(events).slice(1, -2)).toEqual([
      'start tool_use 0',
      'input_json_delta {}',
      'stop 0',
      'start text 1',
      'text_delta Hi',
      'stop 1',
    ])
  })

  test('that is whole has blocks that its wire reads back', () => {
    const message = {
      role: 'assistant',
      content: 'I look.',
      refusal: null,
      reasoning_content: 'Hm',
      reasoning_details: [
        { type: 'reasoning.text' as const, text: 'Hm', signature: 'sealed' },
        { type: 'reasoning.encrypted' as const, data: 'x' },
      ],
      tool_calls: [{ id: 'call_a', type: 'function' as const, function: { name: 'look', arguments: '{"q":1}' } }],
    } as const
    const { reasoning_details: details, tool_calls: calls } = message
    const text = read({})
      .openAnswer(FACTS)
      .whole(
        [
          {
            index: 0,
            message: { ...message, reasoning_details: [...details], tool_calls: [...calls] },
            logprobs: null,
            finish_reason: 'tool_calls',
          },
        ],
        END,
      )
    const { content, ...answer } = messageShape.parse(JSON.parse(text))
    expect(answer).toMatchObject({ id: 'inv_1', stop_reason: 'tool_use', usage: USED })
    expect(content).toEqual([
      { type: 'thinking', thinking: 'Hm', signature: 'sealed' },
      { type: 'redacted_thinking', data: '{"type":"reasoning.encrypted","data":"x"}' },
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', id: 'call_a', name: 'look', input: { q: 1 } },
    ])
    expect(messagesOf(...hi, { role: 'assistant', content })[1]).toMatchObject({
      reasoning_details: details,
      tool_calls: calls,
    })
  })

  const look = { id: 'call_a', type: 'function' as const, function: { name: 'look', arguments: '{}' } }
  test.for<[string, FinishReason, string, Partial<AnswerMessage>]>([
    ['nothing', 'stop', 'end_turn', {}],
    ['nothing', 'length', 'max_tokens', {}],
    ['nothing', 'content_filter', 'refusal', {}],
    ['a refusal', 'stop', 'refusal', { refusal: 'No.' }],
    ['a tool call', 'tool_calls', 'tool_use', { tool_calls: [look] }],
    ['a tool call', 'stop', 'tool_use', { tool_calls: [look] }],
    ['a tool call', 'length', 'max_tokens', { tool_calls: [look] }],
    ['a tool call', 'content_filter', 'refusal', { tool_calls: [look] }],
    ['a refusal and a tool call', 'stop', 'refusal', { refusal: 'No.', tool_calls: [look] }],
  ])('of %s that ends by %s has the stop reason %s', ([, finish, reason, said]) => {
    const { openAnswer } = read({})
    const { refusal = null, tool_calls: calls = [] } = said
    const delta = { ...(refusal !== null && { refusal }), tool_calls: calls.map((one, n) => call(n, one)) }
    const streamed = eventsOf(openAnswer(FACTS), [chunk(delta), chunk({}, finish)])
    const message = { role: 'assistant' as const, content: null, refusal, tool_calls: calls }
    const choice = { index: 0 as const, message, logprobs: null, finish_reason: finish }
    const whole = messageShape.parse(JSON.parse(openAnswer(FACTS).whole([choice], END)))
    expect([streamed.at(-2), whole]).toMatchObject([{ delta: { stop_reason: reason } }, { stop_reason: reason }])
  })

  test.for(['', 'sealed'])('of thinking alone with the signature "%s" is read back with an empty text', (signature) => {
    const details = signature ? { reasoning_details: [{ type: 'reasoning.text' as const, text: 'Hm', signature }] } : {}
    const message = { role: 'assistant' as const, content: null, refusal: null, reasoning_content: 'Hm', ...details }
    const choice = { index: 0 as const, message, logprobs: null, finish_reason: 'stop' as const }
    const { content } = messageShape.parse(JSON.parse(read({}).openAnswer(FACTS).whole([choice], END)))
    expect(content).toEqual([{ type: 'thinking', thinking: 'Hm', signature }])
    expect(messagesOf(...hi, { role: 'assistant', content }, ...hi)[1]).toEqual({
      role: 'assistant',
      content: '',
      ...(signature ? details : { reasoning_content: 'Hm' }),
    })
  })

  test('of unsigned thinking and a tool call is read back with its thinking', () => {
    const message = {
      role: 'assistant' as const,
      content: null,
      refusal: null,
      reasoning_content: 'Hm',
      tool_calls: [look],
    }
    const choice = { index: 0 as const, message, logprobs: null, finish_reason: 'tool_calls' as const }
    const { content } = messageShape.parse(JSON.parse(read({}).openAnswer(FACTS).whole([choice], END)))
    const { refusal: _, ...history } = message
    expect(messagesOf(...hi, { role: 'assistant', content })[1]).toEqual(history)
  })

  test('that is whole is accepted as history, for any answer', () => {
    fc.assert(
      fc.property(anyMessage, (message) => {
        const choice = { index: 0 as const, message, logprobs: null, finish_reason: 'stop' as const }
        const { content } = messageShape.parse(JSON.parse(read({}).openAnswer(FACTS).whole([choice], END)))
        expect(messagesOf(...hi, { role: 'assistant', content }, ...hi)).toHaveLength(3)
      }),
      { examples: [[{ role: 'assistant', content: null, refusal: null }]] },
    )
  })

  test('that breaks off ends with an error event, with or without a beginning', () => {
    for (const chunks of [[chunk({ content: 'Hel' })], []]) {
      const answer = read({}).openAnswer(FACTS)
      const events = eventsOf(answer, chunks, () => answer.broken(refuse('provider_timeout', {})))
      expect(events[0]!.type).toBe('message_start')
      expect(events.at(-1)).toMatchObject({ type: 'error', error: { type: 'timeout_error', code: 'provider_timeout' } })
    }
  })

  test('can be ended again with another charge', () => {
    const answer = read({}).openAnswer(FACTS)
    answer.chunk(chunk({ content: 'Hello' }, 'stop'))
    const [first, second] = [5, 0].map((chargedMicro) => answer.end({ usage: USAGE, chargedMicro }))
    expect(second).toBe(first!.replace('"cost":0.000005,"cost_micro":5', '"cost":0,"cost_micro":0'))
  })
})

test.for([
  ['key_missing', 'authentication_error'],
  ['insufficient_budget', 'billing_error'],
  ['overloaded', 'overloaded_error'],
  ['unavailable', 'api_error'],
  ['idempotency_in_progress', 'invalid_request_error'],
] as const)('an error has our code and the type of its status: %s', ([code, type]) => {
  const refusal = new Refusal(code, 'It failed.', 'Do so.')
  expect(messagesWire.errorBody(refusal)).toEqual({
    type: 'error',
    error: { type, code, param: null, message: 'It failed.', resolution: 'Do so.' },
  })
})

test.for(['__proto__', 'constructor', 'unknown'])('a refusal leaves the name of the unknown field %s', (field) => {
  expect(nameOfField(field)).toBe(field)
})
