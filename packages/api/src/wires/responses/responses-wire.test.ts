import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ChunkChoice, Delta, FinishReason } from '../../chat-answer.ts'
import { Refusal, refuse } from '../../refusal.ts'
import type { AnswerWriter } from '../wire.ts'
import { responseEventShape, responseShape } from './responses-shapes.ts'
import { responsesWire } from './responses-wire.ts'
import { nameOfField } from './read-responses.ts'
import { anyMessage } from '../any-message.fixture.ts'

const FACTS = { id: 'inv_1', model: 'acme/swift', created: 1_700_000_000 }
const USAGE = { promptTokens: 3, completionTokens: 2, details: { prompt: { cached_tokens: 1 } } }
const END = { usage: USAGE, chargedMicro: 5 }

const read = (body: object) => responsesWire.read({ model: 'acme/swift', input: 'hi', ...body })
const messagesOf = (body: object) => read(body).request.forwarded.messages
const chunk = (delta: Delta, finish: FinishReason | null = null): ChunkChoice[] => [
  { index: 0, delta, finish_reason: finish },
]

/** Writes the chunks as a stream and returns its events, each checked against its shape. */
function eventsOf(answer: AnswerWriter, chunks: ChunkChoice[][], end = () => answer.end(END)) {
  const text = chunks.map((choices) => answer.chunk(choices)).join('') + end()
  const events = text
    .split('\n\n')
    .filter(Boolean)
    .map((event) => {
      const [, name, data] = /^event: (\S+)\ndata: (.*)$/.exec(event)!
      const parsed = responseEventShape.parse(JSON.parse(data!))
      expect(parsed.type).toBe(name)
      return parsed
    })
  expect(events.map(({ sequence_number: n }) => n)).toEqual(events.map((_, n) => n))
  return events
}

const typesOf = (events: { type: string }[]) => events.map(({ type }) => type.replace('response.', ''))
const lastOf = (events: { [field: string]: unknown }[]) => responseShape.parse(events.at(-1)!['response'])

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
  test('is read as messages, from a text or from items', () => {
    expect(messagesOf({ instructions: 'Be brief.' })).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'hi' },
    ])
    const image = { type: 'input_image', image_url: 'https://example.test/a.png', detail: 'original' }
    expect(
      messagesOf({
        input: [
          { role: 'developer', content: 'Be brief.' },
          { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'what?' }, image] },
          { role: 'assistant', content: [{ type: 'output_text', text: 'It is', annotations: [] }] },
          { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: ' so.' }] },
        ],
      }),
    ).toEqual([
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'what?' },
          { type: 'image_url', image_url: { url: 'https://example.test/a.png', detail: 'high' } },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'It is' },
          { type: 'text', text: ' so.' },
        ],
      },
    ])
  })

  test('has the items of one answer as one message, and outputs of tools as messages', () => {
    const input = [
      { role: 'user', content: 'hi' },
      { type: 'function_call', id: 'fc_1', call_id: 'call_a', name: 'look', arguments: '{"q":1}', status: 'completed' },
      { type: 'custom_tool_call', call_id: 'call_b', name: 'patch', input: 'a "b"' },
      { type: 'function_call_output', call_id: 'call_a', output: 'found' },
      { type: 'custom_tool_call_output', call_id: 'call_b', output: [{ type: 'input_text', text: 'done' }] },
    ]
    expect(messagesOf({ input })).toEqual([
      { role: 'user', content: 'hi' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'call_a', type: 'function', function: { name: 'look', arguments: '{"q":1}' } },
          { id: 'call_b', type: 'function', function: { name: 'patch', arguments: '{"input":"a \\"b\\""}' } },
        ],
      },
      { role: 'tool', content: 'found', tool_call_id: 'call_a' },
      { role: 'tool', content: 'done', tool_call_id: 'call_b' },
    ])
  })

  const seen = (id: string, ...parts: object[]) => ({ type: 'function_call_output', call_id: id, output: parts })
  const asked = (id: string) => ({ type: 'function_call', call_id: id, name: 'view_image', arguments: '{}' })
  const image = { type: 'input_image', image_url: 'https://example.test/a.png' }
  const file = { type: 'input_file', file_data: 'asset:ast_1', filename: 'a.pdf' }
  const imagePart = { type: 'image_url', image_url: { url: 'https://example.test/a.png' } }

  test('has the images and files of tool outputs in a message of the user after the last of them', () => {
    const text = { type: 'input_text', text: 'found' }
    const next = { role: 'user', content: 'so?' }
    const outputs = [seen('call_a', image), seen('call_b', text, file)]
    expect(messagesOf({ input: [asked('call_a'), asked('call_b'), ...outputs, next] }).slice(1)).toEqual([
      { role: 'tool', content: '', tool_call_id: 'call_a' },
      { role: 'tool', content: 'found', tool_call_id: 'call_b' },
      { role: 'user', content: [imagePart, { type: 'file', file: { file_data: 'asset:ast_1', filename: 'a.pdf' } }] },
      next,
    ])
    expect(messagesOf({ input: [asked('call_a'), seen('call_a', image)] }).at(-1)).toEqual({
      role: 'user',
      content: [imagePart],
    })
  })

  test('names the part of a tool output at fault [invalid_request]', () => {
    const text = { type: 'input_text', text: 'found' }
    const bad = { type: 'input_image', image_url: 'x' }
    const input = [asked('call_a'), asked('call_b'), seen('call_a', image), seen('call_b', text, bad)]
    expect(refusalOf({ input })[1]).toBe('input.3.output.1.image_url')
    const badFile = { type: 'input_file', file_data: 'x' }
    expect(refusalOf({ input: [asked('call_a'), seen('call_a', badFile)] })[1]).toBe('input.1.output.0.file_data')
  })

  test('has an answer without content as an empty text', () => {
    const nothing = { type: 'message', role: 'assistant', content: [] }
    const words = { role: 'assistant', content: [{ type: 'output_text', text: 'Hm' }] }
    const contentOf = (...input: object[]) => messagesOf({ input }).map(({ content }) => content)
    expect(contentOf(nothing)).toEqual([''])
    expect(contentOf(nothing, nothing)).toEqual([''])
    for (const input of [
      [nothing, words],
      [words, nothing],
    ])
      expect(contentOf(...input)).toEqual([[{ type: 'text', text: 'Hm' }]])
  })

  test('translates tools, formats and settings', () => {
    const schema = { type: 'object', properties: {} }
    const { request } = read({
      max_output_tokens: 50,
      temperature: 0.5,
      tools: [
        { type: 'function', name: 'look', description: null, parameters: schema, strict: true },
        { type: 'custom', name: 'patch', format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' } },
        { type: 'function', name: 'other', parameters: schema },
      ],
      tool_choice: {
        type: 'allowed_tools',
        mode: 'required',
        tools: [{ type: 'function', name: 'look' }, { name: 'patch' }],
      },
      parallel_tool_calls: false,
      reasoning: { effort: 'low', summary: 'auto' },
      text: { format: { type: 'json_schema', name: 'answer', schema, strict: true }, verbosity: 'low' },
      top_logprobs: 2,
      include: ['reasoning.encrypted_content'],
      store: true,
      metadata: { a: 'b' },
      truncation: 'disabled',
    })
    expect(request).toMatchObject({ maxTokens: 50, stream: false })
    expect(request.optional).toContain('parallel_tool_calls')
    expect(request.conditional).not.toContain('parallel_tool_calls')
    expect(request.forwarded).toEqual({
      messages: [{ role: 'user', content: 'hi' }],
      temperature: 0.5,
      tools: [
        { type: 'function', function: { name: 'look', parameters: schema, strict: true } },
        {
          type: 'function',
          function: {
            name: 'patch',
            description: 'The input follows this grammar:\nstart: "x"',
            parameters: {
              type: 'object',
              properties: { input: { type: 'string' } },
              required: ['input'],
              additionalProperties: false,
            },
          },
        },
      ],
      tool_choice: 'required',
      parallel_tool_calls: false,
      reasoning_effort: 'low',
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } },
      verbosity: 'low',
      logprobs: true,
      top_logprobs: 2,
    })
    const choice = (given: unknown) =>
      read({ tools: [{ type: 'function', name: 'look' }], tool_choice: given }).request.forwarded['tool_choice']
    expect(choice({ type: 'function', name: 'look' })).toEqual({ type: 'function', function: { name: 'look' } })
    expect(choice('none')).toBe('none')
  })

  test.for([
    [{ previous_response_id: 'resp_1' }, 'previous_response_id', 'nothing is stored here'],
    [{ conversation: 'conv_1' }, 'conversation', 'nothing is stored here'],
    [{ background: true }, 'background', 'must be false'],
    [{ truncation: 'auto' }, 'truncation', 'must be "disabled"'],
    [{ input: [{ type: 'item_reference', id: 'msg_1' }] }, 'input.0', 'nothing is stored here'],
    [{ tools: [{ type: 'web_search' }] }, 'tools.0.type', 'a tool that runs at OpenAI'],
    [{ tool_choice: { type: 'mcp', server_label: 'x' } }, 'tool_choice.type', 'a tool that runs at OpenAI'],
    [{ max_output_tokens: 8_193 }, 'max_output_tokens', 'must be at most 8192'],
    [{ max_tokens: 5 }, 'max_tokens', 'is not a known field'],
    [{ temperature: 3 }, 'temperature', 'must be at most 2'],
    [{ input: [] }, 'input', 'must not be empty'],
    [{ input: [{ role: 'user', content: [] }] }, 'input.0.content', 'is empty'],
    [
      { input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }] },
      'input.0.content.0.image_url',
      'file_id',
    ],
    [
      { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'x' }] }] },
      'input.0.content.0.image_url',
      'data: URL',
    ],
    [{ input: [{ type: 'function_call', name: 'f', arguments: '' }] }, 'input.0.call_id', 'missing'],
    [{ input: Array.from({ length: 101 }, () => ({ role: 'user', content: 'x' })) }, 'input', 'at most 100'],
    [{ tool_choice: 'required' }, 'tool_choice', 'without tools'],
    [{ tools: [{ type: 'function', name: 'a b' }] }, 'tools.0.name', '1 to 64 characters'],
    [
      { tools: [{ type: 'namespace', name: 'x', tools: [{ type: 'custom', name: 'a b' }] }] },
      'tools.0.tools.0.name',
      '1 to 64 characters',
    ],
  ] as const)('is refused by the name of its field: %j [invalid_request]', ([body, param, words]) => {
    expect(refusalOf(body)).toEqual(['invalid_request', param, expect.stringContaining(words) as string])
    expect(refusalOf(body)[2]).toContain(param)
  })

  test('is read or refused for any value, never broken off', () => {
    const value = fc.anything()
    fc.assert(
      fc.property(fc.record({ input: value, tools: value, text: value, reasoning: value, include: value }), (body) => {
        try {
          responsesWire.read({ model: 'm', ...body })
        } catch (error) {
          expect(error).toBeInstanceOf(Refusal)
          expect(Object.keys(body)).toContain((error as Refusal).body.param!.split('.')[0])
        }
      }),
    )
  })

  test('yields the images and files that are cut out of a body', () => {
    const parts = [
      { type: 'input_file', file_data: 'c' },
      { type: 'input_image', image_url: 'a' },
      { type: 'input_text', image_url: 'b' },
    ]
    expect([...responsesWire.dataOf({ input: [{ content: parts }, { content: 'x' }] })]).toEqual(['c', 'a'])
    expect([...responsesWire.dataOf({ input: [{ output: parts }, { output: 'x' }] })]).toEqual(['c', 'a'])
  })
})

describe('an answer', () => {
  test('of text has the documented sequence of events', () => {
    const events = eventsOf(read({ stream: true }).openAnswer(FACTS), [
      chunk({ role: 'assistant', content: 'Hel' }),
      chunk({ content: 'lo' }),
      chunk({}, 'stop'),
    ])
    expect(typesOf(events)).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'completed',
    ])
    expect(lastOf(events)).toMatchObject({
      id: 'inv_1',
      status: 'completed',
      output: [{ type: 'message', id: 'msg_1_0', content: [{ type: 'output_text', text: 'Hello' }] }],
      usage: { input_tokens: 3, input_tokens_details: { cached_tokens: 1 }, output_tokens: 2, cost_micro: 5 },
    })
  })

  test('has reasoning, text and tool calls as items in order, each done before the next', () => {
    const detail = { type: 'reasoning.text', text: 'Hm', signature: 'sealed' } as const
    const tools = [{ type: 'custom', name: 'patch' }]
    const call = (index: number, name: string) => ({ index, id: `call_${index}`, function: { name, arguments: '' } })
    const events = eventsOf(read({ tools }).openAnswer(FACTS), [
      chunk({ role: 'assistant', reasoning_content: 'Hm' }),
      chunk({ reasoning_details: [detail] }),
      chunk({ content: 'I look.' }),
      chunk({ tool_calls: [call(0, 'look')] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{"q":1}' } }] }),
      chunk({ tool_calls: [call(1, 'patch')] }),
      chunk({ tool_calls: [{ index: 1, function: { arguments: '{"input":"a' } }] }),
      chunk({ tool_calls: [{ index: 1, function: { arguments: '\\nb"}' } }] }),
      chunk({}, 'tool_calls'),
    ])
    expect(typesOf(events)).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'reasoning_summary_part.added',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.done',
      'reasoning_summary_part.done',
      'output_item.done',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'output_item.added',
      'function_call_arguments.delta',
      'output_item.added',
      'function_call_arguments.done',
      'output_item.done',
      'custom_tool_call_input.delta',
      'custom_tool_call_input.done',
      'output_item.done',
      'completed',
    ])
    const { output } = lastOf(events)
    expect(output).toMatchObject([
      { type: 'reasoning', summary: [{ text: 'Hm' }] },
      { type: 'message', content: [{ text: 'I look.' }] },
      { type: 'function_call', call_id: 'call_0', name: 'look', arguments: '{"q":1}', status: 'completed' },
      { type: 'custom_tool_call', call_id: 'call_1', name: 'patch', input: 'a\nb' },
    ])
    expect(messagesOf({ input: [{ role: 'user', content: 'hi' }, ...output] })[1]).toEqual({
      role: 'assistant',
      content: [{ type: 'text', text: 'I look.' }],
      tool_calls: [
        { id: 'call_0', type: 'function', function: { name: 'look', arguments: '{"q":1}' } },
        { id: 'call_1', type: 'function', function: { name: 'patch', arguments: '{"input":"a\\nb"}' } },
      ],
      reasoning_details: [detail],
    })
  })

  test('has the calls of tools in a namespace by their names there', () => {
    const tools = [{ type: 'namespace', name: 'agents', tools: [{ type: 'function', name: 'spawn' }] }]
    const { request, openAnswer } = read({ tools })
    expect(request.forwarded['tools']).toMatchObject([{ function: { name: 'agents__spawn' } }])
    const call = { index: 0, id: 'call_0', function: { name: 'agents__spawn', arguments: '{}' } }
    const { output } = lastOf(eventsOf(openAnswer(FACTS), [chunk({ tool_calls: [call] }), chunk({}, 'tool_calls')]))
    expect(output).toMatchObject([{ type: 'function_call', name: 'spawn', namespace: 'agents', call_id: 'call_0' }])
    expect(messagesOf({ input: output })[0]).toMatchObject({ tool_calls: [{ function: { name: 'agents__spawn' } }] })
  })

  test('keeps tool calls whole around a text that came before their ends', () => {
    const call = (index: number, json: string) => ({
      index,
      id: `call_${index}`,
      function: { name: 'look', arguments: json },
    })
    const events = eventsOf(read({}).openAnswer(FACTS), [
      chunk({ tool_calls: [call(0, '{"a":')] }),
      chunk({ content: '\n' }),
      chunk({ content: '', tool_calls: [{ index: 0, function: { arguments: '1}' } }] }),
      chunk({ tool_calls: [call(1, '{}')] }),
      chunk({}, 'tool_calls'),
    ])
    expect(lastOf(events).output).toMatchObject([
      { type: 'function_call', call_id: 'call_0', arguments: '{"a":1}', status: 'completed' },
      { type: 'function_call', call_id: 'call_1', arguments: '{}' },
      { type: 'message', content: [{ text: '\n' }] },
    ])
  })

  test('sends a text that came inside a tool call with the first one after it', () => {
    const part = (json: string) => chunk({ tool_calls: [{ index: 0, function: { arguments: json } }] })
    const call = { index: 0, id: 'call_0', function: { name: 'look', arguments: '{"a":' } }
    const [begun, lineBreak, space] = [chunk({ tool_calls: [call] }), chunk({ content: '\n' }), chunk({ content: ' ' })]
    const after = ['Hi', '!'].map((content) => chunk({ content }))
    const chunks = [begun, lineBreak, part('1'), space, part('}'), ...after]
    const answer = read({}).openAnswer(FACTS)
    expect(chunks.map((choices) => answer.chunk(choices) !== '')).toEqual([true, false, true, false, true, true, true])
    const { output } = lastOf(eventsOf(read({}).openAnswer(FACTS), [...chunks, chunk({}, 'tool_calls')]))
    expect(output).toMatchObject([
      { type: 'function_call', arguments: '{"a":1}', status: 'completed' },
      { type: 'message', content: [{ text: '\n Hi!' }] },
    ])
    expect(output).toHaveLength(2)
  })

  test('marks a tool call that was cut as incomplete, also if a text waited for its end', () => {
    const call = { index: 0, id: 'call_0', function: { name: 'look', arguments: '{"a":' } }
    const chunks = [chunk({ tool_calls: [call] }), chunk({ content: 'Hi' }), chunk({}, 'length')]
    const { output } = lastOf(eventsOf(read({}).openAnswer(FACTS), chunks))
    expect(output).toMatchObject([{ arguments: '{"a":', status: 'incomplete' }, { content: [{ text: 'Hi' }] }])
  })

  test('ignores what is left of a tool call whose item is done', () => {
    const call = { index: 0, id: 'call_0', function: { name: 'look', arguments: '{}' } }
    const events = eventsOf(read({}).openAnswer(FACTS), [
      chunk({ tool_calls: [call] }),
      chunk({ content: 'Hi' }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '' } }] }),
      chunk({}, 'tool_calls'),
    ])
    expect(lastOf(events).output).toMatchObject([
      { type: 'function_call', arguments: '{}' },
      { type: 'message', content: [{ text: 'Hi' }] },
    ])
    expect(lastOf(events).output).toHaveLength(2)
  })

  test('that is whole has the same items as its stream', () => {
    const details = [{ type: 'reasoning.encrypted', data: 'sealed' }] as const
    const message = { role: 'assistant', content: 'Hello', refusal: null, reasoning_content: 'Hm' } as const
    const text = read({})
      .openAnswer(FACTS)
      .whole(
        [{ index: 0, message: { ...message, reasoning_details: [...details] }, logprobs: null, finish_reason: 'stop' }],
        END,
      )
    const events = eventsOf(read({}).openAnswer(FACTS), [
      chunk({ role: 'assistant', reasoning_content: 'Hm' }),
      chunk({ reasoning_details: [...details] }),
      chunk({ content: 'Hello' }),
      chunk({}, 'stop'),
    ])
    expect(responseShape.parse(JSON.parse(text))).toEqual(lastOf(events))
  })

  test('of reasoning without a detail and a tool call is read back with its reasoning', () => {
    const call = { index: 0, id: 'call_a', function: { name: 'look', arguments: '{}' } }
    const chunks = [chunk({ reasoning_content: 'Hm' }), chunk({ tool_calls: [call] }), chunk({}, 'tool_calls')]
    const { output } = lastOf(eventsOf(read({}).openAnswer(FACTS), chunks))
    expect(messagesOf({ input: [{ role: 'user', content: 'hi' }, ...output] })[1]).toEqual({
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'call_a', type: 'function', function: { name: 'look', arguments: '{}' } }],
      reasoning_content: 'Hm',
    })
  })

  test('has no reasoning read back from an item that another service encrypted', () => {
    const item = { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm' }], encrypted_content: 'gAAA' }
    expect(messagesOf({ input: [item, { role: 'user', content: 'hi' }] })).toEqual([{ role: 'user', content: 'hi' }])
  })

  test('that is whole is accepted as history, for any answer', () => {
    fc.assert(
      fc.property(anyMessage, (message) => {
        const choice = { index: 0 as const, message, logprobs: null, finish_reason: 'stop' as const }
        const { output } = responseShape.parse(JSON.parse(read({}).openAnswer(FACTS).whole([choice], END)))
        const hi = { role: 'user', content: 'hi' }
        const messages = messagesOf({ input: [hi, ...output, hi] })
        expect(messages.length).toBe(output.length === 0 ? 2 : 3)
      }),
      { examples: [[{ role: 'assistant', content: null, refusal: null }]] },
    )
  })

  test.for([
    ['length', 'max_output_tokens'],
    ['content_filter', 'content_filter'],
  ] as const)('that ended by %s is incomplete', ([finish, reason]) => {
    const events = eventsOf(read({}).openAnswer(FACTS), [chunk({ content: 'Hel' }), chunk({}, finish)])
    expect(typesOf(events).at(-1)).toBe('incomplete')
    expect(lastOf(events)).toMatchObject({ incomplete_details: { reason }, output: [{ status: 'incomplete' }] })
  })

  test('that refuses has a refusal part', () => {
    const events = eventsOf(read({}).openAnswer(FACTS), [chunk({ refusal: 'No.' }), chunk({}, 'stop')])
    expect(typesOf(events)).toContain('refusal.delta')
    expect(lastOf(events)).toMatchObject({ output: [{ content: [{ type: 'refusal', refusal: 'No.' }] }] })
  })

  test('that breaks off ends with response.failed, with or without a beginning', () => {
    const refusal = refuse('provider_timeout', {})
    for (const chunks of [[chunk({ content: 'Hel' })], []]) {
      const answer = read({}).openAnswer(FACTS)
      const events = eventsOf(answer, chunks, () => answer.broken(refusal))
      expect([typesOf(events)[0], ...typesOf(events).slice(-2)]).toEqual(['created', 'failed', 'error'])
      expect(lastOf(events.slice(0, -1))).toMatchObject({ status: 'failed', error: refusal.body })
      expect(events.at(-1)).toMatchObject({ error: refusal.body })
    }
  })

  test('can be ended again with another charge', () => {
    const answer = read({}).openAnswer(FACTS)
    answer.chunk(chunk({ content: 'Hello' }, 'stop'))
    const [first, second] = [5, 0].map((chargedMicro) => answer.end({ usage: USAGE, chargedMicro }))
    expect(second).toBe(first!.replace('"cost":0.000005,"cost_micro":5', '"cost":0,"cost_micro":0'))
  })

  test('names the fields of this wire in an error', () => {
    const refusal = new Refusal('invalid_request', 'reasoning_effort: this model does not support it.', 'x', {
      param: 'reasoning_effort',
    })
    expect(responsesWire.errorBody(refusal)).toMatchObject({
      error: { param: 'reasoning.effort', message: 'reasoning.effort: this model does not support it.' },
    })
  })
})

test.for(['__proto__', 'constructor', 'unknown'])('a refusal leaves the name of the unknown field %s', (field) => {
  expect(nameOfField(field)).toBe(field)
})
