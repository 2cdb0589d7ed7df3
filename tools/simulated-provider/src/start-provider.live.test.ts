import { crc32, inflateSync } from 'node:zlib'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { controlClient } from './control.ts'
import { startSimulatedProvider } from './start-provider.ts'

const provider = await startSimulatedProvider()
const remote = controlClient(provider.url)
afterAll(() => provider.stop())
beforeEach(async () => {
  await provider.control.clearFaults()
  await provider.control.clearCalls()
})

interface Completion {
  choices: {
    message: { content: string | null; reasoning_content?: string; tool_calls?: { function: { arguments: string } }[] }
    finish_reason: string
  }[]
  usage: { prompt_tokens: number; completion_tokens: number }
}

const hello = [{ role: 'user', content: 'Tell me about lighthouses' }]

function post(path: string, body: object, init: RequestInit = {}): Promise<Response> {
  return fetch(`${provider.url}${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { authorization: 'Bearer canary-secret' },
    ...init,
  })
}

async function chat(body: object): Promise<Completion> {
  const response = await post('/v1/chat/completions', { model: 'sim-swift', messages: hello, ...body })
  expect(response.status).toBe(200)
  return (await response.json()) as Completion
}

interface Chunk {
  choices: { delta: { content?: string } }[]
  usage?: unknown
}

async function chunks(body: object): Promise<{ texts: string[]; parsed: Chunk[] }> {
  const response = await post('/v1/chat/completions', {
    model: 'sim-swift',
    messages: hello,
    stream: true,
    stream_options: { include_usage: true },
    ...body,
  })
  const texts = (await response.text())
    .split('\n\n')
    .filter((event) => event.startsWith('data: '))
    .map((event) => event.slice(6))
  return { texts, parsed: texts.filter((text) => text !== '[DONE]').map((text) => JSON.parse(text) as Chunk) }
}

test('the same model, messages and seed give the same response, and another seed a different one', async () => {
  const [first, second, third] = [await chat({}), await chat({}), await chat({ seed: 7 })]
  expect(second).toEqual(first)
  expect(third.choices[0]?.message.content).not.toBe(first.choices[0]?.message.content)
})

test('prompt tokens never exceed the bytes of the compact messages', async () => {
  for (const content of ['', 'a', 'ä'.repeat(500), [{ type: 'image_url', image_url: { url: 'data:,' } }]]) {
    const messages = [{ role: 'user', content }]
    const { usage } = await chat({ messages })
    expect(usage.prompt_tokens).toBeLessThanOrEqual(Buffer.byteLength(JSON.stringify(messages)))
  }
})

test('max_tokens and stop cut the response', async () => {
  const short = await chat({ max_tokens: 3 })
  expect(short.choices[0]?.finish_reason).toBe('length')
  expect(short.usage.completion_tokens).toBe(3)
  const whole = (await chat({})).choices[0]?.message.content as string
  const stopped = await chat({ stop: ['.'] })
  expect(stopped.choices[0]).toMatchObject({
    finish_reason: 'stop',
    message: { content: whole.slice(0, whole.indexOf('.')) },
  })
})

test('a tool call has arguments that fit its schema, and the response to its result is text', async () => {
  const parameters = {
    type: 'object',
    properties: {
      city: { type: 'string', enum: ['Oslo', 'Bergen'] },
      days: { type: 'integer', minimum: 2, maximum: 4 },
      where: { $ref: '#/$defs/place' },
    },
    required: ['city', 'days', 'where'],
    $defs: { place: { type: 'object', properties: { lat: { type: 'number', minimum: -1, maximum: 1 } } } },
  }
  const tools = [{ type: 'function', function: { name: 'forecast', parameters } }]
  const called = await chat({ tools })
  expect(called.choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } })
  const given = JSON.parse(called.choices[0]?.message.tool_calls?.[0]?.function.arguments as string)
  expect(['Oslo', 'Bergen']).toContain(given.city)
  expect([2, 3, 4]).toContain(given.days)
  expect(Math.abs(given.where.lat)).toBeLessThanOrEqual(1)

  const answered = await chat({
    tools,
    messages: [...hello, { role: 'tool', tool_call_id: 'x', content: '4 degrees' }],
  })
  expect(answered.choices[0]?.finish_reason).toBe('stop')
  expect((await chat({ tools, tool_choice: 'none' })).choices[0]?.finish_reason).toBe('stop')
})

test('JSON output fits the requested schema', async () => {
  const schema = { type: 'object', properties: { title: { type: 'string', maxLength: 5 }, tags: { type: 'array' } } }
  const answer = await chat({ response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } })
  const value = JSON.parse(answer.choices[0]?.message.content as string)
  expect(value.title.length).toBeLessThanOrEqual(5)
  expect(Array.isArray(value.tags)).toBe(true)
})

test('a thinking model returns its reasoning', async () => {
  const { choices } = await chat({ model: 'sim-think' })
  expect(choices[0]?.message.reasoning_content).toMatch(/\w+/)
})

test('a stream has the same content as the completion and ends with usage and [DONE]', async () => {
  const whole = await chat({})
  const { texts, parsed } = await chunks({})
  const said = parsed.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')
  expect(said).toBe(whole.choices[0]?.message.content)
  expect(parsed.at(-1)?.usage).toEqual(whole.usage)
  expect(texts.at(-1)).toBe('[DONE]')
})

test('images are valid PNGs of the requested size', async () => {
  const response = await post('/v1/images/generations', { model: 'sim-image', prompt: 'a fox', size: '64x32' })
  const { data } = (await response.json()) as { data: { b64_json: string }[] }
  const png = Buffer.from(data[0]?.b64_json as string, 'base64')
  expect(png.subarray(1, 4).toString()).toBe('PNG')
  expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([64, 32])
  const start = png.indexOf('IDAT') + 4
  const rows = inflateSync(png.subarray(start, start + png.readUInt32BE(start - 8)))
  expect(rows.length).toBe(32 * (1 + 64 / 4))
})

test.each([20_000, 1_000_000, 5_000_000])('an image can be a valid PNG of exactly %i bytes', async (imageBytes) => {
  await provider.control.setFaults([{ prompt: 'a fox', imageBytes }])
  const response = await post('/v1/images/generations', { model: 'sim-image', prompt: 'a fox', size: '64x32' })
  const { data } = (await response.json()) as { data: { b64_json: string }[] }
  const png = Buffer.from(data[0]!.b64_json, 'base64')
  expect(png).toHaveLength(imageBytes)
  const kinds: string[] = []
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    const [length, kind] = [png.readUInt32BE(at), png.toString('latin1', at + 4, at + 8)]
    expect(crc32(png.subarray(at + 4, at + 8 + length))).toBe(png.readUInt32BE(at + 8 + length))
    kinds.push(kind)
  }
  expect(kinds).toEqual(['IHDR', 'PLTE', 'fiLl', 'IDAT', 'IEND'])
})

test('speech is a valid WAV with the correct length in its header', async () => {
  const response = await post('/v1/audio/speech', { model: 'sim-voice', input: 'Hello', voice: 'ada' })
  expect(response.headers.get('content-type')).toBe('audio/wav')
  const wav = Buffer.from(await response.arrayBuffer())
  expect(wav.subarray(0, 4).toString()).toBe('RIFF')
  expect(wav.readUInt32LE(40)).toBe(wav.length - 44)
})

test('the same prompt gives the same image and speech, and another prompt different ones', async () => {
  const bodyOf = async (path: string, body: object) => Buffer.from(await (await post(path, body)).arrayBuffer())
  const draw = (prompt: string) => bodyOf('/v1/images/generations', { model: 'sim-image', prompt })
  const speak = (input: string, voice = 'ada') => bodyOf('/v1/audio/speech', { model: 'sim-voice', input, voice })
  expect(await draw('a fox')).toEqual(await draw('a fox'))
  expect(await draw('an owl')).not.toEqual(await draw('a fox'))
  expect(await speak('Hello')).toEqual(await speak('Hello'))
  expect(await speak('Hello', 'bob')).not.toEqual(await speak('Hello'))
})

test('calls for images and speech are logged with their text, and faults apply to them too', async () => {
  const draw = (init?: RequestInit) => post('/v1/images/generations', { model: 'sim-image', prompt: 'a fox' }, init)
  const speak = () => post('/v1/audio/speech', { model: 'sim-voice', input: 'Hello there' })
  await provider.control.setFaults([
    { model: 'sim-image', times: 1, status: 503 },
    { prompt: 'a fox', times: 1, cut: { afterChunk: 1 } },
    { prompt: 'a fox', times: 1, cut: 'without-end-marker' },
    { prompt: 'there', times: 1, contentType: 'text/plain' },
    { prompt: 'there', times: 1, oversizedBytes: 1_000 },
  ])
  expect((await draw()).status).toBe(503)
  await expect(draw().then((answer) => answer.arrayBuffer())).rejects.toThrow()
  await expect(draw().then((answer) => answer.json())).rejects.toThrow('JSON')
  expect((await speak()).headers.get('content-type')).toBe('text/plain')
  const [larger, whole] = [await (await speak()).arrayBuffer(), await (await speak()).arrayBuffer()]
  expect(larger.byteLength).toBe(whole.byteLength + 1_000)

  await provider.control.setFaults([{ hold: true }])
  const held = draw()
  await provider.control.waitForCalls(1, { prompt: 'a fox', outcome: 'open' })
  await provider.control.release()
  expect((await held).status).toBe(200)
  const paths = (await provider.control.calls()).map(({ path, prompt, outcome }) => [path, prompt, outcome])
  expect(paths).toEqual([
    ['/v1/images/generations', 'a fox', 'finished'],
    ['/v1/images/generations', 'a fox', 'cut'],
    ['/v1/images/generations', 'a fox', 'finished'],
    ['/v1/audio/speech', 'Hello there', 'finished'],
    ['/v1/audio/speech', 'Hello there', 'finished'],
    ['/v1/audio/speech', 'Hello there', 'finished'],
    ['/v1/images/generations', 'a fox', 'finished'],
  ])
})

test('unsupported parameters of images and speech are refused', async () => {
  const status = async (path: string, body: object) => (await post(path, body)).status
  for (const wrong of [{ prompt: '' }, { n: 2 }, { response_format: 'url' }, { size: '9999x1' }])
    expect(await status('/v1/images/generations', { model: 'm', prompt: 'a fox', ...wrong })).toBe(400)
  for (const wrong of [{ input: '' }, { response_format: 'opus' }])
    expect(await status('/v1/audio/speech', { model: 'm', input: 'Hello', ...wrong })).toBe(400)
})

test('a rule applies to matching calls up to its `times`, and the log has what was received', async () => {
  await remote.setFaults([{ prompt: 'lighthouses', times: 1, status: 429, retryAfter: 3 }])
  const refused = await post('/v1/chat/completions', { model: 'sim-swift', messages: hello })
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '3'])
  await chat({})
  const [first, second] = await remote.calls()
  expect(first).toMatchObject({ model: 'sim-swift', prompt: 'Tell me about lighthouses', outcome: 'finished' })
  expect(first?.bodyDigest).toBe(second?.bodyDigest)
  expect(first?.headers['authorization']).toMatch(/^sha256:/)
  expect(JSON.stringify(await remote.calls())).not.toContain('canary')
  expect(await remote.countCalls({ prompt: 'something else' })).toBe(0)
})

test('held calls wait until they are released', async () => {
  await remote.setFaults([{ hold: true }])
  const calls = [chat({}), chat({})]
  expect(await remote.waitForCalls(2)).toBe(2)
  expect(await remote.countCalls({ outcome: 'open' })).toBe(2)
  expect(await remote.release()).toBe(2)
  expect(await Promise.all(calls)).toHaveLength(2)
})

test('a call whose caller disconnects is logged as aborted', async () => {
  await provider.control.setFaults([{ stall: { afterChunk: 2 } }])
  const leaving = new AbortController()
  const response = await post(
    '/v1/chat/completions',
    { model: 'm', messages: hello, stream: true },
    { signal: leaving.signal },
  )
  const reader = response.body?.getReader()
  await reader?.read()
  leaving.abort()
  expect(await provider.control.waitForCalls(1, { outcome: 'aborted' })).toBe(1)
})

test('a timed-out wait for calls reports how many arrived', async () => {
  await expect(remote.waitForCalls(1, {}, 1)).rejects.toThrow('only 0 of 1 calls')
})

test('an invalid rule is refused with the name of its field', async () => {
  await expect(remote.setFaults([{ latency: 5 } as never])).rejects.toThrow('latency')
})
