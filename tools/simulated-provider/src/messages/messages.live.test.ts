import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { startSimulatedProvider } from '../start-provider.ts'

const provider = await startSimulatedProvider()
afterAll(() => provider.stop())
beforeEach(() => provider.control.clearFaults())

const hello = { role: 'user', content: 'Tell me about lighthouses' }

function post(path: string, body: object): Promise<Response> {
  return fetch(`${provider.url}${path}`, {
    method: 'POST',
    headers: { 'x-api-key': 'canary-secret' },
    body: JSON.stringify({ model: 'sim-swift', max_tokens: 1024, messages: [hello], ...body }),
  })
}

interface Message {
  content: { type: string; text?: string; thinking?: string; name?: string; input?: Record<string, unknown> }[]
  stop_reason: string
  stop_sequence: string | null
  usage: Record<string, number>
}

async function message(body: object = {}): Promise<Message> {
  const response = await post('/v1/messages', body)
  expect(response.status).toBe(200)
  return (await response.json()) as Message
}

async function events(body: object = {}) {
  const text = await (await post('/v1/messages', { stream: true, ...body })).text()
  return text
    .split('\n\n')
    .filter(Boolean)
    .map((event) => {
      const [name, data] = event.split('\n') as [string, string]
      const fields = JSON.parse(data.slice('data: '.length))
      expect(name).toBe(`event: ${fields.type}`)
      return fields
    })
}

test('a message has the same text and usage as a chat completion', async () => {
  const chat = (await (await post('/v1/chat/completions', {})).json()) as {
    choices: { message: { content: string } }[]
    usage: { prompt_tokens: number; completion_tokens: number }
  }
  const { content, usage, stop_reason: reason } = await message()
  expect(content).toEqual([{ type: 'text', text: chat.choices[0]!.message.content }])
  expect(reason).toBe('end_turn')
  const { input_tokens: input, cache_read_input_tokens: read, cache_creation_input_tokens: written } = usage
  expect(input! + read! + written!).toBe(chat.usage.prompt_tokens)
  expect(usage['output_tokens']).toBe(chat.usage.completion_tokens)
})

test('a stream has the same content as the message', async () => {
  const whole = await message({ model: 'sim-think' })
  const all = await events({ model: 'sim-think' })
  const joined = (type: string, field: string) =>
    all.flatMap(({ delta }) => (delta?.type === type ? [delta[field]] : [])).join('')
  expect(joined('thinking_delta', 'thinking')).toBe(whole.content[0]!.thinking)
  expect(joined('text_delta', 'text')).toBe(whole.content[1]!.text)
  expect(all.at(-2)).toMatchObject({ type: 'message_delta', usage: { output_tokens: whole.usage['output_tokens'] } })
  expect(all.at(-1)).toEqual({ type: 'message_stop' })
})

test('a tool call has an input that fits its schema', async () => {
  const tools = [{ name: 'go', input_schema: { type: 'object', properties: { way: { enum: ['left', 'right'] } } } }]
  const { content, stop_reason: reason } = await message({ tools })
  expect([content[0], reason]).toMatchObject([{ type: 'tool_use', name: 'go' }, 'tool_use'])
  expect(['left', 'right']).toContain(content[0]!.input!['way'])
  const json = (await events({ tools })).flatMap(({ delta }) => delta?.partial_json ?? []).join('')
  expect(JSON.parse(json)).toEqual(content[0]!.input)
})

test('a message states why it stopped: a stop sequence, the cap, a tool call or a refusal', async () => {
  expect(await message({ stop_sequences: ['.'] })).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: '.' })
  expect(await message({ max_tokens: 2 })).toMatchObject({ stop_reason: 'max_tokens', usage: { output_tokens: 2 } })
  const schema = { type: 'object', properties: { title: { type: 'string' } } }
  const { content } = await message({ output_config: { format: { type: 'json_schema', schema } } })
  expect(Object.keys(JSON.parse(content[0]!.text!))).toEqual(['title'])
  await provider.control.setFaults([{ declines: true }])
  expect(await message()).toMatchObject({ content: [], stop_reason: 'refusal' })
})

describe('a second turn with a tool result', () => {
  const tools = [{ name: 'go', input_schema: { type: 'object', properties: {} } }]
  const thinking = { model: 'sim-think', thinking: { type: 'adaptive' }, tools }
  const second = async (change: (thought: object) => object[]) => {
    const [thought, ...rest] = (await message(thinking)).content
    const { id } = rest[0] as unknown as { id: string }
    const result = { type: 'tool_result', tool_use_id: id, content: 'Bergen' }
    const said = { role: 'assistant', content: [...change(thought!), ...rest] }
    const response = await post('/v1/messages', {
      ...thinking,
      messages: [hello, said, { role: 'user', content: [result] }],
    })
    return [response.status, await response.text()]
  }

  test('is answered with the signed thinking of the first', async () => {
    expect(await second((thought) => [thought])).toMatchObject([200, expect.stringContaining('end_turn')])
  })

  test('is refused if the thinking is missing, or altered, or its signature is', async () => {
    expect(await second(() => [])).toMatchObject([400, expect.stringContaining('must start with a thinking block')])
    for (const change of [{ thinking: 'I never thought this' }, { signature: 'sim_signature' }])
      expect(await second((thought) => [{ ...thought, ...change }])).toMatchObject([
        400,
        expect.stringContaining('invalid signature'),
      ])
  })
})

test('faults have the error format of Messages', async () => {
  await provider.control.setFaults([{ status: 529, times: 1 }, { errorEvent: { afterChunk: 4 } }])
  const refused = await post('/v1/messages', {})
  expect([refused.status, await refused.json()]).toMatchObject([529, { error: { type: 'overloaded_error' } }])
  expect((await events()).at(-1)).toMatchObject({ type: 'error', error: { type: 'overloaded_error' } })
})

describe('a request with a field that the format does not have is refused:', () => {
  const call = { type: 'tool_use', id: 'a', name: 'f', input: {} }
  test.each<[object, string]>([
    [{ seed: 1 }, 'seed'],
    [{ max_tokens: 0 }, 'max_tokens'],
    [{ temperature: 1.5 }, 'temperature'],
    [{ messages: [{ role: 'system', content: 'x' }] }, 'role'],
    [{ messages: [{ role: 'user', content: ' ' }] }, 'blanks'],
    [{ messages: [hello, hello] }, 'turns'],
    [{ messages: [hello, { role: 'assistant', content: [call] }, hello] }, 'without its tool_result'],
    [{ messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a' }] }] }, 'unexpected'],
    [{ thinking: { type: 'adaptive' }, temperature: 0.5 }, 'thinking'],
    [{ stop_sequences: [' '] }, 'stop_sequences'],
  ])('%j', async (body, says) => {
    const refused = await post('/v1/messages', body)
    const { error } = (await refused.json()) as { error: { type: string; message: string } }
    expect([refused.status, error.type]).toEqual([400, 'invalid_request_error'])
    expect(error.message).toContain(says)
  })
})
