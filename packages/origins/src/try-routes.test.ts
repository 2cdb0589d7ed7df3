import { startSimulatedOrigin } from '@gateway/simulated-origin/start-origin'
import { describe, expect, test } from 'vitest'
import { openOrigins } from './open-origins.ts'
import type { OriginsOptions } from './open-origins.ts'
import { readOrigins } from './origin-config.ts'
import { call, complete, failureOf, openStream, readAll, toBoth, twoOrigins } from './origins.fixture.ts'

const { first, second, failures, open } = await twoOrigins()

/** Notes each wait instead of waiting, on a clock that the waits move. */
function noted(): OriginsOptions & { waits: number[] } {
  const waits: number[] = []
  let nowMs = 0
  return {
    waits,
    random: () => 0,
    nowMs: () => nowMs,
    wait: async (ms) => {
      waits.push(ms)
      nowMs += ms
    },
  }
}

const answeredBy = async (through: ReturnType<typeof open>, routes = toBoth) =>
  (await through.chat(call({ routes }))).route.origin

describe('one call', () => {
  test('asks an origin again that failed in passing, after what its Retry-After asks for', async () => {
    const { waits, ...options } = noted()
    const origins = open('openai-compatible', { tries: 2 }, options)
    await first.control.setFaults([{ status: 429, retryAfter: 3, times: 1 }])
    await complete(origins)
    expect(waits).toEqual([3_125])
    expect(await first.control.countCalls()).toBe(2)
    expect(failures).toHaveLength(1)
  })

  test('asks no origin more often than configured', async () => {
    const { waits, ...options } = noted()
    const origins = open('openai-compatible', { tries: 3 }, options)
    await first.control.setFaults([{ status: 503 }])
    expect(await failureOf(complete(origins))).toMatchObject({ originStatus: 503 })
    expect(waits).toEqual([125, 250])
    expect(await first.control.countCalls()).toBe(3)
  })

  test('goes to the next origin at once, and comes back to the first only when that failed too', async () => {
    const { waits, ...options } = noted()
    const origins = open('openai-compatible', { tries: 2 }, options)
    await first.control.setFaults([{ status: 429, retryAfter: 5, times: 1 }])
    expect(await answeredBy(origins)).toBe('second')
    expect(waits).toEqual([])

    await first.control.setFaults([{ status: 500, times: 1 }])
    await second.control.setFaults([{ status: 500 }])
    expect(await answeredBy(origins)).toBe('first')
    expect(failures.map(({ origin }) => origin)).toEqual(['first', 'first', 'second'])
  })

  test('waits for no Retry-After that is too long', async () => {
    const { waits, ...options } = noted()
    const origins = open('openai-compatible', { tries: 2 }, options)
    await first.control.setFaults([{ status: 429, retryAfter: 60 }])
    expect(await failureOf(complete(origins))).toMatchObject({ retryAfterMs: 60_000 })
    expect(waits).toEqual([])
  })

  test('ends within its 300 s, however often it may ask', async () => {
    const { waits, ...options } = noted()
    const origins = open(
      'openai-compatible',
      { tries: 5, circuitFailures: 1_000_000 },
      { ...options, random: () => 900 },
    )
    await first.control.setFaults([{ status: 503 }])
    await failureOf(complete(origins))
    expect(waits.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(300_000)
    expect(waits).toHaveLength(1)
  })

  test('that waits can be ended', async () => {
    const leaving = new AbortController()
    const origins = open(
      'openai-compatible',
      { tries: 2 },
      {
        attemptFailed: () => leaving.abort(new Error('enough')),
      },
    )
    await first.control.setFaults([{ status: 503, retryAfter: 9 }])
    await expect(complete(origins, { signal: leaving.signal })).rejects.toThrow('enough')
    expect(await first.control.countCalls()).toBe(1)
  })

  test('asks nobody again once a part of the answer was handed on', async () => {
    const origins = open('openai-compatible', { tries: 2 }, noted())
    await first.control.setFaults([{ cut: { afterChunk: 4 } }])
    const failure = await failureOf(readAll(await openStream(origins, { routes: toBoth })))
    expect(failure).toMatchObject({ kind: 'cut', afterFirstByte: true })
    expect([await first.control.countCalls(), await second.control.countCalls()]).toEqual([1, 0])
    expect(failures).toEqual([failure])
  })

  test('passes over an origin that is not there, or not configured, and tells of it', async () => {
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
    const routes = ['unknown', 'gone', 'second'].map((origin) => ({ origin, model: 'm' }))
    expect(await answeredBy(some, routes)).toBe('second')
    expect(failures.map(({ kind, origin }) => [kind, origin])).toEqual([
      ['unreachable', 'unknown'],
      ['unreachable', 'gone'],
    ])
    expect(await failureOf(some.chat(call({ routes: [] })))).toMatchObject({ kind: 'unreachable' })
    await some.close()
  })
})

describe('a call that has no words in the format of an origin', () => {
  const parameters = { response_format: { type: 'json_object' } }
  const config = (more: object) => {
    const each = (kind: string, url: string) => ({ kind, baseUrl: `${url}/v1`, allowPrivateAddress: true, tries: 1 })
    return readOrigins(
      JSON.stringify({
        first: { ...each('anthropic', first.url), ...more },
        second: each('openai-compatible', second.url),
      }),
      {},
    )
  }

  test('goes to one of another kind, and is not sent to this one', async () => {
    const some = openOrigins(config({}))
    expect((await some.chat(call({ routes: toBoth, parameters }))).route.origin).toBe('second')
    expect(await first.control.countCalls()).toBe(0)
    await some.close()
  })

  test('is refused as the request it is, unless an origin that has the words failed', async () => {
    const some = openOrigins(config({}))
    expect(await failureOf(complete(some, { parameters }))).toMatchObject({
      kind: 'refused',
      originStatus: 400,
      asked: false,
    })
    await second.control.setFaults([{ status: 500 }])
    for (const routes of [toBoth, toBoth.toReversed()])
      expect(await failureOf(complete(some, { routes, parameters }))).toMatchObject({ originStatus: 500 })
    await some.close()
  })
})

describe('an origin that fails again and again', () => {
  const settings = { circuitFailures: 3, circuitRestMs: 1_000 }

  function watched(more: object = {}) {
    const { waits: _, ...options } = noted()
    const changes: string[] = []
    let nowMs = 0
    const origins = open(
      'openai-compatible',
      { ...settings, ...more },
      {
        ...options,
        nowMs: () => nowMs,
        circuitChanged: ({ origin, state }) => changes.push(`${origin} ${state}`),
      },
    )
    return { origins, changes, pass: (ms: number) => (nowMs += ms) }
  }

  async function failThrice(origins: ReturnType<typeof open>): Promise<void> {
    await first.control.setFaults([{ status: 500, times: 3 }])
    for (let i = 0; i < 3; i++) await failureOf(complete(origins))
    await first.control.clearCalls()
  }

  test('is not asked any more: another one is, and where there is none the call fails at once', async () => {
    const { origins, changes } = watched()
    await failThrice(origins)
    failures.length = 0
    expect(await answeredBy(origins)).toBe('second')
    expect(await failureOf(complete(origins))).toMatchObject({ kind: 'resting', asked: false, retryAfterMs: 1_000 })
    expect(await first.control.countCalls()).toBe(0)
    expect([changes, failures]).toEqual([['first open'], []])
  })

  test('is asked by one probe when it has rested, and by all again when that has its first byte', async () => {
    const { origins, changes, pass } = watched()
    await failThrice(origins)
    pass(1_000)
    await first.control.setFaults([{ hold: true, times: 1 }])
    const probe = openStream(origins)
    await first.control.waitForCalls(1)
    expect(await answeredBy(origins)).toBe('second')
    await first.control.release()
    const chunks = await probe
    expect(await answeredBy(origins)).toBe('first')
    await readAll(chunks)
    expect(changes).toEqual(['first open', 'first half-open', 'first closed'])
  })

  test('rests again when the probe fails', async () => {
    const { origins, changes, pass } = watched()
    await failThrice(origins)
    pass(1_000)
    await first.control.setFaults([{ status: 500, times: 1 }])
    await failureOf(complete(origins))
    expect(await failureOf(complete(origins))).toMatchObject({ kind: 'resting' })
    expect(changes).toEqual(['first open', 'first half-open', 'first open'])
  })

  test('rests also when it only ever breaks off in the middle of its streams', async () => {
    const { origins, changes } = watched()
    await first.control.setFaults([{ cut: { afterChunk: 4 } }])
    for (let i = 0; i < 3; i++) await failureOf(readAll(await openStream(origins)))
    expect(changes).toEqual(['first open'])
  })

  test('does not rest for requests that are wrong, or for being busy', async () => {
    const { origins, changes } = watched()
    for (const status of [400, 404, 429]) {
      await first.control.setFaults([{ status }])
      for (let i = 0; i < 10; i++) await failureOf(complete(origins))
    }
    expect(changes).toEqual([])
  })

  test('a call that a caller ends says nothing of the origin', async () => {
    const { origins, changes } = watched()
    await first.control.setFaults([{ hold: true }])
    for (let i = 0; i < 5; i++) {
      const leaving = new AbortController()
      const running = complete(origins, { signal: leaving.signal })
      await first.control.waitForCalls(i + 1)
      leaving.abort(new Error('enough'))
      await expect(running).rejects.toThrow('enough')
    }
    expect(changes).toEqual([])
  })
})
