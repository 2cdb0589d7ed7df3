import { startSimulatedOrigin } from '@gateway/simulated-origin/start-origin'
import { tracesOfTheOrigin } from '@gateway/simulated-origin/origin-traces'
import type { FaultRule } from '@gateway/simulated-origin/fault-rule'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import type { ChatCall, ChatChunk, Completion } from './chat-port.ts'
import { openOrigins } from './open-origins.ts'
import type { Origins } from './open-origins.ts'
import { readOrigins } from './origin-config.ts'
import { OriginFailure } from './origin-failure.ts'

const first = await startSimulatedOrigin()
const second = await startSimulatedOrigin()
const failures: OriginFailure[] = []
const opened: Origins[] = []
const origins = open({})
afterAll(async () => {
  await first.stop()
  await second.stop()
  await Promise.all(opened.map((each) => each.close()))
})
beforeEach(async () => {
  failures.length = 0
  for (const { control } of [first, second]) {
    await control.clearFaults()
    await control.release()
    await control.clearCalls()
  }
})

/** Two origins, `first` and `second`, with short limits. */
function open(limits: object): Origins {
  const each = (url: string) => ({
    kind: 'openai-compatible',
    baseUrl: `${url}/v1`,
    apiKeyEnv: 'ORIGIN_KEY',
    allowPrivateAddress: true,
    ...limits,
  })
  const config = readOrigins(JSON.stringify({ first: each(first.url), second: each(second.url) }), {
    ORIGIN_KEY: 'sk-canary',
  })
  const it = openOrigins(config, { attemptFailed: (failure) => failures.push(failure) })
  opened.push(it)
  return it
}

const toFirst = [{ origin: 'first', model: 'sim-swift' }]
const toBoth = [...toFirst, { origin: 'second', model: 'sim-swift' }]

function call(more: Partial<ChatCall> & { parameters?: object } = {}): ChatCall {
  const { parameters, ...rest } = more
  const forwarded = JSON.stringify({ messages: [{ role: 'user', content: 'Name a harbour' }], ...parameters })
  return { routes: toFirst, forwarded, outputCap: 500, stream: false, ...rest }
}

async function complete(more: Parameters<typeof call>[0] = {}, through = origins): Promise<Completion> {
  const answer = await through.chat(call(more))
  if (answer.kind !== 'completion') throw new Error('not a completion')
  return answer.completion
}

async function openStream(more: Parameters<typeof call>[0] = {}, through = origins): Promise<AsyncIterable<ChatChunk>> {
  const answer = await through.chat(call({ stream: true, ...more }))
  if (answer.kind !== 'stream') throw new Error('not a stream')
  return answer.chunks
}

async function readAll(chunks: AsyncIterable<ChatChunk>): Promise<ChatChunk[]> {
  const all: ChatChunk[] = []
  for await (const chunk of chunks) all.push(chunk)
  return all
}

const textOf = (chunks: ChatChunk[]): string => chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')

async function failureOf(promise: Promise<unknown>): Promise<OriginFailure> {
  const reason = await promise.then(
    () => new Error('it did not fail'),
    (error: unknown) => error,
  )
  if (reason instanceof OriginFailure) return reason
  throw reason
}

describe('what is sent', () => {
  test('the forwarded text stays as it is, behind our own fields', async () => {
    const forwarded = '{"messages":[{"role":"user","content":"\\u00e4 1.0"}],"temperature":1.0,"x":1e2}'
    await origins.chat({ routes: toFirst, forwarded, outputCap: 77, stream: true })
    const [received] = await first.control.calls()
    expect(received?.body).toBe(
      `{"model":"sim-swift","max_tokens":77,"stream":true,"stream_options":{"include_usage":true},${forwarded.slice(1)}`,
    )
  })

  test('the cap goes into the field that the origin knows', async () => {
    await complete({ outputCap: 3 }, open({ capField: 'max_completion_tokens' }))
    const [received] = await first.control.calls()
    expect(JSON.parse(received?.body as string)).toMatchObject({ max_completion_tokens: 3 })
    expect(received?.body).not.toContain('"max_tokens"')
  })

  test('the key is sent and no header tells who calls', async () => {
    await complete()
    const [received] = await first.control.calls()
    expect(received?.headers['authorization']).toMatch(/^sha256:/)
    expect(Object.keys(received?.headers ?? {}).toSorted()).toEqual(['authorization', 'content-type', 'user-agent'])
  })
})

describe('what is answered', () => {
  test('a completion with its usage', async () => {
    const completion = await complete()
    expect(completion.choices).toMatchObject([
      { index: 0, finish_reason: 'stop', message: { role: 'assistant', refusal: null } },
    ])
    expect(completion.choices[0]?.message.content).toContain('Name a harbour')
    expect(completion.usage?.promptTokens).toBeGreaterThan(0)
    expect(completion.usage?.details.completion_tokens_details).toEqual({ reasoning_tokens: 0, audio_tokens: 0 })
  })

  test('a stream that says the same, usage last', async () => {
    const completion = await complete()
    const chunks = await readAll(await openStream())
    expect(textOf(chunks)).toBe(completion.choices[0]?.message.content)
    expect(chunks.at(-1)).toEqual({ choices: [], usage: completion.usage })
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('stop')
  })

  test('reasoning, whole and in pieces', async () => {
    const routes = [{ origin: 'first', model: 'sim-think' }]
    const { message } = (await complete({ routes })).choices[0]!
    const chunks = await readAll(await openStream({ routes }))
    expect(message.reasoning_content).toMatch(/\w/)
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.reasoning_content ?? '').join('')).toBe(
      message.reasoning_content,
    )
  })

  test('a tool call, whole and in pieces', async () => {
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

  test('nothing that tells which origin it was', async () => {
    const answers = JSON.stringify([await complete(), await readAll(await openStream())])
    for (const trace of tracesOfTheOrigin) expect(answers).not.toContain(trace)
    expect(answers).not.toContain(first.url)
  })

  test('whole characters, however the bytes arrive', async () => {
    const text = 'Ein schöner Gruß 🌊🌊 – “fine”'
    for (const sliceBytes of [1, 2, 3, 7, 100]) {
      await first.control.setFaults([{ text, sliceBytes }])
      expect(textOf(await readAll(await openStream()))).toBe(text)
    }
  })

  test('every chunk, however slow the reader', async () => {
    const text = 'slowly '.repeat(2_000).trim()
    await first.control.setFaults([{ text }])
    let read = ''
    for await (const chunk of await openStream({ outputCap: 100_000 })) {
      await new Promise(setImmediate)
      read += textOf([chunk])
    }
    expect(read).toBe(text)
  })

  test('missing usage is null, and usage is passed on as it was reported', async () => {
    const honest = await complete()
    await first.control.setFaults([{ usageFactor: 1000, times: 1 }, { missingUsage: true }])
    expect((await complete()).usage?.promptTokens).toBe((honest.usage?.promptTokens ?? 0) * 1000)
    expect((await complete()).usage).toBeNull()
    expect((await readAll(await openStream())).every((chunk) => chunk.usage === null)).toBe(true)
  })
})

interface Case {
  name: string
  rule: FaultRule
  limits?: object
  json: Partial<OriginFailure> | 'answers'
  stream: Partial<OriginFailure> | 'answers'
}

const cases: Case[] = [
  {
    name: 'an error status',
    rule: { status: 500 },
    json: { kind: 'refused', originStatus: 500, retryable: true },
    stream: { kind: 'refused', originStatus: 500, retryable: true },
  },
  {
    name: 'a rate limit',
    rule: { status: 429, retryAfter: 7 },
    json: { kind: 'refused', retryAfterMs: 7_000, originCode: 'rate_limit_exceeded', retryable: true },
    stream: { kind: 'refused', retryAfterMs: 7_000, retryable: true },
  },
  {
    name: 'a request the origin finds wrong',
    rule: { status: 400 },
    json: { kind: 'refused', originStatus: 400, retryable: false },
    stream: { kind: 'refused', originStatus: 400, retryable: false },
  },
  {
    name: 'an error page',
    rule: { status: 502, body: '<html>simulated-origin</html>', contentType: 'text/html' },
    json: { kind: 'refused', originStatus: 502, originCode: undefined },
    stream: { kind: 'refused', originStatus: 502 },
  },
  {
    name: 'an endless error page',
    rule: { status: 503, body: 'x'.repeat(1_000_000) },
    json: { kind: 'refused', originStatus: 503 },
    stream: { kind: 'refused', originStatus: 503 },
  },
  {
    name: 'a redirect',
    rule: { status: 307, headers: { location: 'http://127.0.0.1:1/elsewhere' } },
    json: { kind: 'refused', originStatus: 307 },
    stream: { kind: 'refused', originStatus: 307 },
  },
  {
    name: 'no first byte in time',
    rule: { stall: 'before-first-byte' },
    limits: { firstByteMs: 40 },
    json: { kind: 'timeout', afterFirstByte: false },
    stream: { kind: 'timeout', afterFirstByte: false },
  },
  {
    name: 'headers and then nothing',
    rule: { stall: { afterChunk: 0 } },
    limits: { firstByteMs: 40, idleMs: 41 },
    json: { kind: 'timeout', afterFirstByte: false },
    stream: { kind: 'timeout', afterFirstByte: false },
  },
  {
    name: 'a pause in the middle that is too long',
    rule: { stall: { afterChunk: 1 } },
    limits: { idleMs: 40 },
    json: { kind: 'timeout', afterFirstByte: false },
    stream: { kind: 'timeout', afterFirstByte: true },
  },
  {
    name: 'an answer that takes too long as a whole',
    rule: { perChunkMs: 25 },
    limits: { totalMs: 45 },
    json: { kind: 'timeout' },
    stream: { kind: 'timeout', afterFirstByte: true },
  },
  {
    name: 'a cut before the first byte',
    rule: { cut: 'before-first-byte' },
    json: { kind: 'cut', afterFirstByte: false },
    stream: { kind: 'cut', afterFirstByte: false },
  },
  {
    name: 'a cut in the middle',
    rule: { cut: { afterChunk: 1 } },
    json: { kind: 'cut', afterFirstByte: false },
    stream: { kind: 'cut', afterFirstByte: true },
  },
  {
    name: 'a proper end in the middle',
    rule: { cut: 'without-end-marker' },
    json: { kind: 'garbage', afterFirstByte: false },
    stream: { kind: 'cut', afterFirstByte: true },
  },
  { name: 'a stream without its [DONE]', rule: { cut: 'without-done' }, json: 'answers', stream: 'answers' },
  {
    name: 'garbage at once',
    rule: { garbage: 'before-first-byte' },
    json: { kind: 'garbage', afterFirstByte: false },
    stream: { kind: 'garbage', afterFirstByte: false },
  },
  {
    name: 'garbage later',
    rule: { garbage: { afterChunk: 3 } },
    json: { kind: 'garbage' },
    stream: { kind: 'garbage', afterFirstByte: true },
  },
  {
    name: 'an error inside a stream, at once',
    rule: { errorEvent: 'before-first-byte' },
    json: 'answers',
    stream: { kind: 'refused', afterFirstByte: false },
  },
  {
    name: 'an error inside a stream, later',
    rule: { errorEvent: { afterChunk: 2 } },
    json: 'answers',
    stream: { kind: 'refused', afterFirstByte: true },
  },
  {
    name: 'an error inside a body of status 200',
    rule: { status: 200, body: { error: { code: 503, message: 'simulated-org is busy' } } },
    json: { kind: 'refused', originStatus: 503 },
    stream: { kind: 'garbage' },
  },
  {
    name: 'a body without end',
    rule: { oversizedBytes: 40 * 1024 * 1024 },
    json: { kind: 'too_large', afterFirstByte: false },
    stream: { kind: 'too_large', afterFirstByte: true },
  },
  {
    name: 'a body of a million lists in each other',
    rule: { status: 200, body: `{"choices":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}` },
    json: { kind: 'garbage', afterFirstByte: false },
    stream: { kind: 'garbage', afterFirstByte: false },
  },
  {
    name: 'a wrong content type',
    rule: { contentType: 'text/html' },
    json: { kind: 'garbage', afterFirstByte: false },
    stream: { kind: 'garbage', afterFirstByte: false },
  },
]

describe('what goes wrong', () => {
  test.each(cases)('$name, as JSON', async ({ rule, limits, json }) => {
    await first.control.setFaults([rule])
    const answer = complete({}, limits ? open(limits) : origins)
    if (json === 'answers') await answer
    else expect(await failureOf(answer)).toMatchObject({ origin: 'first', ...json })
  })

  test.each(cases)('$name, as a stream', async ({ rule, limits, stream }) => {
    await first.control.setFaults([rule])
    const opening = openStream({}, limits ? open(limits) : origins)
    if (stream === 'answers') await readAll(await opening)
    else if (stream.afterFirstByte) expect(await failureOf(readAll(await opening))).toMatchObject(stream)
    else expect(await failureOf(opening)).toMatchObject(stream)
  })

  test.each(cases)('$name, with a second origin', async ({ rule, limits, json, stream }) => {
    await first.control.setFaults([rule])
    const through = limits ? open(limits) : origins
    const whole = complete({ routes: toBoth }, through)
    if (json !== 'answers' && json.retryable === false) expect(await failureOf(whole)).toMatchObject(json)
    else expect((await whole).choices[0]?.finish_reason).toBe('stop')

    const opening = openStream({ routes: toBoth }, through)
    if (stream === 'answers') await readAll(await opening)
    else if (stream.afterFirstByte) expect(await failureOf(readAll(await opening))).toMatchObject(stream)
    else if (stream.retryable === false) expect(await failureOf(opening)).toMatchObject(stream)
    else
      expect(textOf(await readAll(await opening))).toBe(
        textOf(await readAll(await openStream({ routes: [toBoth[1]!] }))),
      )
  })

  test('no other origin is asked once a part of the answer was handed on', async () => {
    await first.control.setFaults([{ cut: { afterChunk: 2 } }])
    const chunks = await openStream({ routes: toBoth })
    expect(await failureOf(readAll(chunks))).toMatchObject({ kind: 'cut', afterFirstByte: true })
    expect(await second.control.countCalls()).toBe(0)
  })

  test('no other origin is asked about a request that is wrong in itself', async () => {
    await first.control.setFaults([{ status: 422 }])
    expect(await failureOf(complete({ routes: toBoth }))).toMatchObject({ originStatus: 422 })
    expect(await second.control.countCalls()).toBe(0)
  })

  test('an origin that is not there, or not configured, is passed over and told of', async () => {
    const gone = await startSimulatedOrigin()
    await gone.stop()
    const config = readOrigins(
      JSON.stringify({
        gone: { kind: 'openai-compatible', baseUrl: gone.url, allowPrivateAddress: true },
        second: { kind: 'openai-compatible', baseUrl: `${second.url}/v1`, allowPrivateAddress: true },
      }),
      {},
    )
    const some = openOrigins(config, { attemptFailed: (failure) => failures.push(failure) })
    opened.push(some)
    const routes = ['unknown', 'gone', 'second'].map((origin) => ({ origin, model: 'm' }))
    expect(await some.chat(call({ routes }))).toMatchObject({ kind: 'completion', route: { origin: 'second' } })
    expect(failures.map(({ kind, origin }) => [kind, origin])).toEqual([
      ['unreachable', 'unknown'],
      ['unreachable', 'gone'],
    ])
    expect(await failureOf(some.chat(call({ routes: [] })))).toMatchObject({ kind: 'unreachable' })
  })

  test('what a failure says holds nothing of the prompt, the answer or the key', async () => {
    for (const { rule, limits } of cases) {
      await first.control.setFaults([rule])
      const through = limits ? open(limits) : origins
      await complete({}, through).catch(() => {})
      await openStream({}, through)
        .then(readAll)
        .catch((error) => failures.push(error))
    }
    expect(failures.length).toBeGreaterThan(20)
    for (const failure of failures) {
      const told = `${failure.stack}${JSON.stringify(failure)}`
      expect(told).not.toMatch(/harbour|canary|simulated-org|<html>/i)
      expect(failure.cause).toBeUndefined()
    }
  })
})

describe('who ends it', () => {
  test('a signal ends a call that waits, and the connection is free again', async () => {
    const single = open({ connections: 1 })
    await first.control.setFaults([{ stall: 'before-first-byte', times: 1 }])
    const leaving = new AbortController()
    const waiting = complete({ signal: leaving.signal }, single)
    await first.control.waitForCalls(1)
    leaving.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    expect(await first.control.waitForCalls(1, { outcome: 'aborted' })).toBe(1)
    expect((await complete({}, single)).choices).toHaveLength(1)
  })

  test('a signal ends a stream in the middle', async () => {
    const single = open({ connections: 1 })
    await first.control.setFaults([{ stall: { afterChunk: 3 }, times: 1 }])
    const leaving = new AbortController()
    const chunks = await openStream({ signal: leaving.signal }, single)
    const reading = readAll(chunks)
    leaving.abort(new Error('enough'))
    await expect(reading).rejects.toThrow('enough')
    expect(await first.control.waitForCalls(1, { outcome: 'aborted' })).toBe(1)
    expect((await complete({}, single)).choices).toHaveLength(1)
  })

  test('a call whose signal was aborted before is never sent, and none of its successors', async () => {
    await expect(complete({ signal: AbortSignal.abort(new Error('too late')), routes: toBoth })).rejects.toThrow(
      'too late',
    )
    await complete()
    expect(await first.control.countCalls()).toBe(1)
    expect(await second.control.countCalls()).toBe(0)
  })

  test('a call that waits for a connection can be ended', async () => {
    const single = open({ connections: 1 })
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

  test('a reader that leaves a stream closes its connection', async () => {
    await first.control.setFaults([{ stall: { afterChunk: 3 } }])
    for await (const chunk of await openStream()) {
      expect(chunk.choices).toHaveLength(1)
      break
    }
    expect(await first.control.waitForCalls(1, { outcome: 'aborted' })).toBe(1)
  })

  test('a finished stream gives its connection back', async () => {
    const single = open({ connections: 1 })
    for (let i = 0; i < 5; i++) await readAll(await openStream({}, single))
    await first.control.waitForCalls(5, { outcome: 'finished' })
    const outcomes = (await first.control.calls()).map(({ outcome }) => outcome)
    expect(outcomes).toEqual(Array(5).fill('finished'))
  })

  test('close waits for running calls', async () => {
    const some = open({})
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
