import type { FaultRule } from '@gateway/simulated-provider/fault-rule'
import { describe, expect, test } from 'vitest'
import type { ProviderFailure } from './provider-failure.ts'
import {
  complete as completeThrough,
  failureOf,
  kinds,
  openStream as openStreamThrough,
  readAll,
  textOf,
  toBoth,
  twoProviders,
} from './providers.fixture.ts'

const { first, second, failures, open } = await twoProviders()

interface Case {
  name: string
  rule: FaultRule
  /** Timeouts of the faulty provider. The other provider has the default ones. */
  limits?: object
  json: Partial<ProviderFailure> | 'answers'
  stream: Partial<ProviderFailure> | 'answers'
}

const lists = `${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`
const nested = `{"type":"message","content":${lists},"choices":${lists}}`

const cases: Case[] = [
  {
    name: 'a close before any content',
    rule: { cut: { afterChunk: 1 } },
    json: { kind: 'cut', afterFirstByte: false },
    stream: { kind: 'cut', afterFirstByte: false },
  },
  {
    name: 'an error status',
    rule: { status: 500 },
    json: { kind: 'refused', providerStatus: 500, retryable: true },
    stream: { kind: 'refused', providerStatus: 500, retryable: true },
  },
  {
    name: 'a rate limit',
    rule: { status: 429, retryAfter: 7 },
    json: {
      kind: 'refused',
      retryAfterMs: 7_000,
      providerCode: expect.stringMatching(/^(rate_limit|throttling)/i) as string,
      retryable: true,
    },
    stream: { kind: 'refused', retryAfterMs: 7_000, retryable: true },
  },
  {
    name: 'a request that the provider rejects',
    rule: { status: 400 },
    json: { kind: 'refused', providerStatus: 400, retryable: false },
    stream: { kind: 'refused', providerStatus: 400, retryable: false },
  },
  {
    name: 'an error page',
    rule: { status: 502, body: '<html>simulated-provider</html>', contentType: 'text/html' },
    json: { kind: 'refused', providerStatus: 502, providerCode: undefined },
    stream: { kind: 'refused', providerStatus: 502 },
  },
  {
    name: 'an endless error page',
    rule: { status: 503, body: 'x'.repeat(1_000_000) },
    json: { kind: 'refused', providerStatus: 503 },
    stream: { kind: 'refused', providerStatus: 503 },
  },
  {
    name: 'a redirect',
    rule: { status: 307, headers: { location: 'http://127.0.0.1:1/elsewhere' } },
    json: { kind: 'refused', providerStatus: 307 },
    stream: { kind: 'refused', providerStatus: 307 },
  },
  {
    name: 'no first byte in time',
    rule: { stall: 'before-first-byte' },
    limits: { firstByteMs: 40 },
    json: { kind: 'timeout', afterFirstByte: false },
    stream: { kind: 'timeout', afterFirstByte: false },
  },
  {
    name: 'headers without a body',
    rule: { stall: { afterChunk: 0 } },
    limits: { firstByteMs: 40, idleMs: 41 },
    json: { kind: 'timeout', afterFirstByte: false },
    stream: { kind: 'timeout', afterFirstByte: false },
  },
  {
    name: 'a pause over the idle timeout',
    rule: { stall: { afterChunk: 5 } },
    limits: { idleMs: 250 },
    json: { kind: 'timeout', afterFirstByte: false },
    stream: { kind: 'timeout', afterFirstByte: true },
  },
  {
    name: 'a response over the total timeout',
    rule: { stall: { afterChunk: 5 } },
    limits: { totalMs: 250 },
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
    name: 'a cut mid-response',
    rule: { cut: { afterChunk: 5 } },
    json: { kind: 'cut', afterFirstByte: false },
    stream: { kind: 'cut', afterFirstByte: true },
  },
  {
    name: 'a clean end mid-response',
    rule: { cut: 'without-end-marker' },
    json: { kind: 'garbage', afterFirstByte: false },
    stream: { kind: 'cut', afterFirstByte: true },
  },
  { name: 'a stream without its [DONE]', rule: { cut: 'without-done' }, json: 'answers', stream: 'answers' },
  {
    name: 'garbage from the start',
    rule: { garbage: 'before-first-byte' },
    json: { kind: 'garbage', afterFirstByte: false },
    stream: { kind: 'garbage', afterFirstByte: false },
  },
  {
    name: 'garbage mid-response',
    rule: { garbage: { afterChunk: 5 } },
    json: { kind: 'garbage' },
    stream: { kind: 'garbage', afterFirstByte: true },
  },
  {
    name: 'an error event before any content',
    rule: { errorEvent: 'before-first-byte' },
    json: 'answers',
    stream: { kind: 'refused', afterFirstByte: false },
  },
  {
    name: 'an error event mid-stream',
    rule: { errorEvent: { afterChunk: 5 } },
    json: 'answers',
    stream: { kind: 'refused', afterFirstByte: true },
  },
  {
    name: 'an error body with status 200',
    rule: {
      status: 200,
      body: { type: 'error', error: { type: 'api_error', code: 500, message: 'simulated-org is busy' } },
    },
    json: { kind: 'refused', providerStatus: 500 },
    stream: { kind: 'garbage' },
  },
  {
    name: 'an endless body',
    rule: { oversizedBytes: 40 * 1024 * 1024 },
    json: { kind: 'too_large', afterFirstByte: false },
    stream: { kind: 'too_large', afterFirstByte: false },
  },
  {
    name: 'a body of a million nested lists',
    rule: { status: 200, body: nested },
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

describe.each(kinds)('failures of %s', (kind) => {
  const providers = open(kind)
  const complete = (more: Parameters<typeof completeThrough>[1] = {}, through = providers) =>
    completeThrough(through, more)
  const openStream = (more: Parameters<typeof completeThrough>[1] = {}, through = providers) =>
    openStreamThrough(through, more)

  test.each(cases)('$name, as JSON', async ({ rule, limits, json }) => {
    await first.control.setFaults([rule])
    const answer = complete({}, limits ? open(kind, {}, {}, limits) : providers)
    if (json === 'answers') await answer
    else expect(await failureOf(answer)).toMatchObject({ provider: 'first', ...json })
  })

  test.each(cases)('$name, as a stream', async ({ rule, limits, stream }) => {
    await first.control.setFaults([rule])
    const opening = openStream({}, limits ? open(kind, {}, {}, limits) : providers)
    if (stream === 'answers') await readAll(await opening)
    else if (stream.afterFirstByte) expect(await failureOf(readAll(await opening))).toMatchObject(stream)
    else expect(await failureOf(opening)).toMatchObject(stream)
  })

  test.each(cases)('$name, with a second provider', async ({ rule, limits, json, stream }) => {
    await first.control.setFaults([rule])
    const through = limits ? open(kind, {}, {}, limits) : providers
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

  test('does not try another provider once part of the response was forwarded', async () => {
    await first.control.setFaults([{ cut: { afterChunk: 5 } }])
    const chunks = await openStream({ routes: toBoth })
    expect(await failureOf(readAll(chunks))).toMatchObject({ kind: 'cut', afterFirstByte: true })
    expect(await second.control.countCalls()).toBe(0)
  })

  test('does not try another provider if the request itself is rejected', async () => {
    await first.control.setFaults([{ status: 422 }])
    expect(await failureOf(complete({ routes: toBoth }))).toMatchObject({ providerStatus: 422 })
    expect(await second.control.countCalls()).toBe(0)
  })

  test('reports failures without the prompt, the response or the key', async () => {
    for (const { rule, limits } of cases) {
      await first.control.setFaults([rule])
      const through = limits ? open(kind, {}, {}, limits) : providers
      await complete({}, through).catch(() => {})
      await openStream({}, through)
        .then(readAll)
        .catch((error) => failures.push(error))
    }
    expect(failures.length).toBeGreaterThan(20)
    for (const failure of failures) {
      const reported = `${failure.stack}${JSON.stringify(failure)}`
      expect(reported).not.toMatch(/harbour|canary|simulated-org|<html>/i)
      expect(failure.cause).toBeUndefined()
    }
  })
})
