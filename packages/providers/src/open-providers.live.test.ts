import { tracesOfTheProvider } from '@gateway/simulated-provider/provider-traces'
import { describe, expect, test } from 'vitest'
import {
  complete as completeThrough,
  failureOf,
  type Kind,
  kinds,
  openStream as openStreamThrough,
  readAll,
  textOf,
  toBoth,
  toFirst,
  twoProviders,
  wholeOf,
} from './providers.fixture.ts'

const { first, second, open } = await twoProviders()

/** What the formats that sign reasoning send back with it. */
const proofSentBack: Partial<Record<Kind, string>> = {
  'openai-responses': 'sim_encrypted',
  anthropic: 'sim_signature',
  gemini: 'sim_signature',
  bedrock: 'sim_signature',
}

describe('requests', () => {
  test('append the forwarded text unchanged after the fields of the gateway', async () => {
    const forwarded = '{"messages":[{"role":"user","content":"\\u00e4 1.0"}],"temperature":1.0,"x":1e2}'
    await open('openai-compatible').chat({ routes: toFirst, project: 'prj_1', forwarded, outputCap: 77, stream: true })
    const [received] = await first.control.calls()
    expect(received?.body).toBe(
      `{"model":"sim-swift","max_tokens":77,"stream":true,"stream_options":{"include_usage":true},${forwarded.slice(1)}`,
    )
  })

  test('send the output cap in the configured field', async () => {
    await completeThrough(open('openai-compatible', { capField: 'max_completion_tokens' }), { outputCap: 3 })
    const [received] = await first.control.calls()
    expect(JSON.parse(received?.body as string)).toMatchObject({ max_completion_tokens: 3 })
    expect(received?.body).not.toContain('"max_tokens"')
  })

  test('ask for stream usage only if streamUsageField is true', async () => {
    await readAll(await openStreamThrough(open('openai-compatible', { streamUsageField: false })))
    const [received] = await first.control.calls()
    expect(JSON.parse(received?.body as string)).toMatchObject({ stream: true })
    expect(received?.body).not.toContain('stream_options')
  })

  test('address an Azure deployment in the path if apiVersion is set', async () => {
    const settings = { apiVersion: '2024-10-21', baseUrl: `${first.url}/openai` }
    const completion = await completeThrough(open('azure-openai', settings))
    expect(completion.choices[0]?.finish_reason).toBe('stop')
    const [received] = await first.control.calls()
    expect(received?.path).toBe('/openai/deployments/sim-swift/chat/completions?api-version=2024-10-21')
    expect(JSON.parse(received?.body as string)).toMatchObject({ max_completion_tokens: 500 })
  })

  test('are written in the wire format of the provider', async () => {
    const parameters = { temperature: 0.5, stop: 'END' }
    await completeThrough(open('anthropic'), { parameters, outputCap: 77 })
    const [received] = await first.control.calls()
    expect(received?.path).toBe('/v1/messages')
    expect(JSON.parse(received?.body as string)).toEqual({
      model: 'sim-swift',
      max_tokens: 77,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Name a harbour' }] }],
      stop_sequences: ['END'],
      temperature: 0.5,
    })
  })

  // spec: can/real-providers
  test.each([
    ['openai-compatible', ['authorization', 'content-type', 'user-agent']],
    ['openai-responses', ['authorization', 'content-type', 'user-agent']],
    ['azure-openai', ['api-key', 'content-type', 'user-agent']],
    ['anthropic', ['anthropic-version', 'content-type', 'user-agent', 'x-api-key']],
    ['gemini', ['content-type', 'user-agent', 'x-goog-api-key']],
    ['bedrock', ['authorization', 'content-type', 'user-agent', 'x-amz-user-agent']],
  ] as const)('to %s carry the key and no header that identifies the caller', async (kind, headers) => {
    await completeThrough(open(kind))
    const [received] = await first.control.calls()
    expect(Object.keys(received?.headers ?? {}).toSorted()).toEqual(headers)
    expect(JSON.stringify(received)).not.toContain('sk-canary')
  })
})

describe.each(kinds)('%s', (kind) => {
  const providers = open(kind)
  const complete = (more: Parameters<typeof completeThrough>[1] = {}, through = providers) =>
    completeThrough(through, more)
  const openStream = (more: Parameters<typeof completeThrough>[1] = {}, through = providers) =>
    openStreamThrough(through, more)

  describe('responses', () => {
    test('return a completion with its usage', async () => {
      const completion = await complete()
      expect(completion.choices).toMatchObject([
        { index: 0, finish_reason: 'stop', message: { role: 'assistant', refusal: null } },
      ])
      expect(completion.choices[0]?.message.content).toContain('Name a harbour')
      expect(completion.usage?.promptTokens).toBeGreaterThan(0)
      expect(completion.usage?.completionTokens).toBeGreaterThan(0)
    })

    test('stream the same text as a completion, with usage last', async () => {
      const completion = await complete()
      const chunks = await readAll(await openStream())
      expect(textOf(chunks)).toBe(completion.choices[0]?.message.content)
      expect(chunks.at(-1)?.usage).toEqual(completion.usage)
      expect(chunks[0]?.choices[0]?.delta).toEqual({ role: 'assistant', content: 'On' })
      expect(chunks.map((chunk) => chunk.choices[0]?.finish_reason).filter(Boolean)).toEqual(['stop'])
    })

    test('return reasoning, whole and streamed', async () => {
      const routes = [{ provider: 'first', model: 'sim-think' }]
      const { message } = (await complete({ routes })).choices[0]!
      const chunks = await readAll(await openStream({ routes }))
      expect(message.reasoning_content).toMatch(/\w/)
      expect(chunks.map((chunk) => chunk.choices[0]?.delta.reasoning_content ?? '').join('')).toBe(
        message.reasoning_content,
      )
    })

    test('return a tool call, whole and streamed', async () => {
      const tool = { name: 'look_up', parameters: { type: 'object', properties: { word: { type: 'string' } } } }
      const parameters = { tools: [{ type: 'function', function: tool }] }
      const [choice] = (await complete({ parameters })).choices
      expect(choice).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } })
      const [whole] = choice?.message.tool_calls ?? []
      const deltas = (await readAll(await openStream({ parameters }))).flatMap(
        (chunk) => chunk.choices[0]?.delta.tool_calls ?? [],
      )
      expect(deltas[0]).toMatchObject({ index: 0, id: whole?.id, type: 'function', function: { name: 'look_up' } })
      expect(deltas.map((delta) => delta.function?.arguments ?? '').join('')).toBe(whole?.function.arguments)
    })

    test('count the tokens of an image', async () => {
      const content = [
        { type: 'text', text: 'What is it?' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
      ]
      const without = await complete({ parameters: { messages: [{ role: 'user', content: [content[0]] }] } })
      const seen = await complete({ parameters: { messages: [{ role: 'user', content }] } })
      expect(seen.usage!.promptTokens).toBeGreaterThan(without.usage!.promptTokens)
    })

    test.each([false, true])('continue a tool round with the earlier reasoning (stream: %s)', async (stream) => {
      const routes = [{ provider: 'first', model: 'sim-think' }]
      const tools = [
        { type: 'function', function: { name: 'look_up', parameters: { type: 'object', properties: {} } } },
      ]
      const effort = kind === 'bedrock' ? {} : { reasoning_effort: 'low' }
      const asked = { role: 'user', content: 'Name a harbour' }
      const turn = async (messages: object[]) => {
        const call = { routes, parameters: { messages, tools, ...effort } }
        return stream ? wholeOf(await readAll(await openStream(call))) : (await complete(call)).choices[0]!
      }
      const { message } = await turn([asked])
      const results = message.tool_calls!.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'Bergen' }))
      expect(await turn([asked, message, ...results])).toMatchObject({ finish_reason: 'stop' })
      const received = (await first.control.calls()).at(-1)!.body!
      expect(/sim_signature|sim_encrypted/.exec(received)?.[0]).toBe(proofSentBack[kind])
      expect(received).not.toContain('reasoning_details')
    })

    test('report length at the cap and content_filter if the model declines', async () => {
      expect((await complete({ outputCap: 3 })).choices[0]?.finish_reason).toBe('length')
      await first.control.setFaults([{ declines: true }])
      expect((await complete()).choices[0]?.finish_reason).toBe('content_filter')
      const chunks = await readAll(await openStream())
      expect(chunks.map((chunk) => chunk.choices[0]?.finish_reason).filter(Boolean)).toEqual(['content_filter'])
    })

    // spec: 1/s11
    test('contain nothing that identifies the provider', async () => {
      const answers = JSON.stringify([
        await complete(),
        await readAll(await openStream()),
        await complete({ parameters: { tools: [{ type: 'function', function: { name: 'look_up' } }] } }),
      ])
      for (const trace of tracesOfTheProvider) expect(answers).not.toContain(trace)
      expect(answers).not.toContain(first.url)
    })

    test('contain whole characters, however the bytes are split', async () => {
      const text = 'Ein schöner Gruß 🌊🌊 – “fine”'
      for (const sliceBytes of [1, 2, 3, 7, 100]) {
        await first.control.setFaults([{ text, sliceBytes }])
        expect(textOf(await readAll(await openStream()))).toBe(text)
      }
    })

    test('deliver every chunk to a slow reader', async () => {
      const text = 'slowly '.repeat(2_000).trim()
      await first.control.setFaults([{ text }])
      let read = ''
      for await (const chunk of await openStream({ outputCap: 100_000 })) {
        await new Promise(setImmediate)
        read += textOf([chunk])
      }
      expect(read).toBe(text)
    })

    test('report cached tokens, and reasoning tokens if the format counts them', async () => {
      const routes = [{ provider: 'first', model: 'sim-think' }]
      const { details, promptTokens } = (await complete({ routes })).usage!
      expect(details.prompt_tokens_details?.['cached_tokens']).toBe(
        kind.includes('openai') ? 0 : Math.floor(promptTokens / 4),
      )
      if (kind === 'gemini' || kind.includes('openai'))
        expect(details.completion_tokens_details?.['reasoning_tokens']).toBeGreaterThan(0)
    })

    test('pass usage on as reported, and null if missing', async () => {
      const honest = await complete()
      await first.control.setFaults([{ usageFactor: 1000, times: 1 }, { missingUsage: true }])
      expect((await complete()).usage?.promptTokens).toBe((honest.usage?.promptTokens ?? 0) * 1000)
      expect((await complete()).usage).toBeNull()
      expect((await readAll(await openStream())).every((chunk) => chunk.usage === null)).toBe(true)
    })
  })

  describe('ending a call', () => {
    test('aborts a waiting call and frees its connection', async () => {
      const single = open(kind, { connections: 1 })
      await first.control.setFaults([{ stall: 'before-first-byte', times: 1 }])
      const leaving = new AbortController()
      const waiting = complete({ signal: leaving.signal }, single)
      await first.control.waitForCalls(1)
      leaving.abort(new Error('enough'))
      await expect(waiting).rejects.toThrow('enough')
      expect(await first.control.waitForCalls(1, { outcome: 'aborted' })).toBe(1)
      expect((await complete({}, single)).choices).toHaveLength(1)
    })

    test('aborts a stream and frees its connection', async () => {
      const single = open(kind, { connections: 1 })
      await first.control.setFaults([{ stall: { afterChunk: 5 }, times: 1 }])
      const leaving = new AbortController()
      const chunks = await openStream({ signal: leaving.signal }, single)
      const reading = readAll(chunks)
      leaving.abort(new Error('enough'))
      await expect(reading).rejects.toThrow('enough')
      expect(await first.control.waitForCalls(1, { outcome: 'aborted' })).toBe(1)
      expect((await complete({}, single)).choices).toHaveLength(1)
    })

    test('never sends a call whose signal is already aborted, to any route', async () => {
      await expect(complete({ signal: AbortSignal.abort(new Error('too late')), routes: toBoth })).rejects.toThrow(
        'too late',
      )
      await complete()
      expect(await first.control.countCalls()).toBe(1)
      expect(await second.control.countCalls()).toBe(0)
    })

    test('aborts a call that waits for a connection', async () => {
      const single = open(kind, { connections: 1 })
      await first.control.setFaults([{ hold: true }])
      const holding = complete({}, single)
      await first.control.waitForCalls(1)
      const leaving = new AbortController()
      const queued = complete({ signal: leaving.signal }, single)
      leaving.abort(new Error('enough'))
      await expect(queued).rejects.toThrow('enough')
      await first.control.clearFaults()
      await first.control.release()
      await holding
      await complete({}, single)
      expect(await first.control.countCalls()).toBe(2)
    })

    test('closes the connection if the reader leaves the stream', async () => {
      await first.control.setFaults([{ stall: { afterChunk: 5 } }])
      for await (const chunk of await openStream()) {
        expect(chunk.choices).toHaveLength(1)
        break
      }
      expect(await first.control.waitForCalls(1, { outcome: 'aborted' })).toBe(1)
    })

    test('reuses the connection after a finished stream', async () => {
      const single = open(kind, { connections: 1 })
      for (let i = 0; i < 5; i++) await readAll(await openStream({}, single))
      await first.control.waitForCalls(5, { outcome: 'finished' })
      const outcomes = (await first.control.calls()).map(({ outcome }) => outcome)
      expect(outcomes).toEqual(Array(5).fill('finished'))
    })

    test('waits for running calls on close', async () => {
      const some = open(kind)
      await first.control.setFaults([{ hold: true }])
      const running = complete({}, some)
      await first.control.waitForCalls(1)
      const closing = some.close()
      await first.control.release()
      expect((await running).choices).toHaveLength(1)
      await closing
      expect(await failureOf(complete({}, some))).toMatchObject({ kind: 'unreachable' })
    })
  })
})
