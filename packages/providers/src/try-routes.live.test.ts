import { startSimulatedProvider } from '@gateway/simulated-provider/start-provider'
import { describe, expect, test } from 'vitest'
import { openProviders } from './open-providers.ts'
import type { ProvidersOptions } from './open-providers.ts'
import type { ProviderEvent } from './try-routes.ts'
import { readProviders } from './provider-config.ts'
import { openTimingLog } from './timing-log.ts'
import { call, complete, failureOf, openStream, readAll, shares, toBoth, twoProviders } from './providers.fixture.ts'

const { first, second, failures, open } = await twoProviders()

/** Records each wait instead of waiting, and advances the clock by it. */
function noted(): Partial<ProvidersOptions> & { waits: number[] } {
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
  (await through.chat(call({ routes }))).route.provider

describe('one call', () => {
  test('retries a provider after a transient failure, once its Retry-After has passed', async () => {
    const { waits, ...options } = noted()
    const providers = open('openai-compatible', { tries: 2 }, options)
    await first.control.setFaults([{ status: 429, retryAfter: 3, times: 1 }])
    await complete(providers)
    expect(waits).toEqual([3_125])
    expect(await first.control.countCalls()).toBe(2)
    expect(failures).toHaveLength(1)
  })

  test('tries no provider more often than configured', async () => {
    const { waits, ...options } = noted()
    const providers = open('openai-compatible', { tries: 3 }, options)
    await first.control.setFaults([{ status: 503 }])
    expect(await failureOf(complete(providers))).toMatchObject({ providerStatus: 503 })
    expect(waits).toEqual([125, 250])
    expect(await first.control.countCalls()).toBe(3)
  })

  test('tries the next provider at once, and returns to the first only if that fails too', async () => {
    const { waits, ...options } = noted()
    const providers = open('openai-compatible', { tries: 2 }, options)
    await first.control.setFaults([{ status: 429, retryAfter: 5, times: 1 }])
    expect(await answeredBy(providers)).toBe('second')
    expect(waits).toEqual([])

    await first.control.setFaults([{ status: 500, times: 1 }])
    await second.control.setFaults([{ status: 500 }])
    expect(await answeredBy(providers)).toBe('first')
    expect(failures.map(({ provider }) => provider)).toEqual(['first', 'first', 'second'])
  })

  test('does not wait for a Retry-After that is too long', async () => {
    const { waits, ...options } = noted()
    const providers = open('openai-compatible', { tries: 2 }, options)
    await first.control.setFaults([{ status: 429, retryAfter: 60 }])
    expect(await failureOf(complete(providers))).toMatchObject({ retryAfterMs: 60_000 })
    expect(waits).toEqual([])
  })

  test('ends within 300 s, regardless of the number of tries left', async () => {
    const { waits, ...options } = noted()
    const providers = open(
      'openai-compatible',
      { tries: 5, circuitFailures: 1_000_000 },
      { ...options, random: () => 900 },
    )
    await first.control.setFaults([{ status: 503 }])
    await failureOf(complete(providers))
    expect(waits.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(300_000)
    expect(waits).toHaveLength(1)
  })

  test('can be aborted while it waits', async () => {
    const leaving = new AbortController()
    const providers = open(
      'openai-compatible',
      { tries: 2 },
      {
        attemptFailed: () => leaving.abort(new Error('enough')),
      },
    )
    await first.control.setFaults([{ status: 503, retryAfter: 9 }])
    await expect(complete(providers, { signal: leaving.signal })).rejects.toThrow('enough')
    expect(await first.control.countCalls()).toBe(1)
  })

  test('does not retry once part of the response was forwarded', async () => {
    const providers = open('openai-compatible', { tries: 2 }, noted())
    await first.control.setFaults([{ cut: { afterChunk: 4 } }])
    const failure = await failureOf(readAll(await openStream(providers, { routes: toBoth })))
    expect(failure).toMatchObject({ kind: 'cut', afterFirstByte: true })
    expect([await first.control.countCalls(), await second.control.countCalls()]).toEqual([1, 0])
    expect(failures).toEqual([failure])
  })

  test('skips and reports a provider that is unreachable or not configured', async () => {
    const gone = await startSimulatedProvider()
    await gone.stop()
    const config = readProviders(
      JSON.stringify({
        gone: { kind: 'openai-compatible', baseUrl: gone.url, allowPrivateAddress: true },
        second: { kind: 'openai-compatible', baseUrl: `${second.url}/v1`, allowPrivateAddress: true },
      }),
      {},
    )
    const some = openProviders(config, { ...shares, attemptFailed: (failure) => failures.push(failure) })
    const routes = ['unknown', 'gone', 'second'].map((provider) => ({ provider, model: 'm' }))
    expect(await answeredBy(some, routes)).toBe('second')
    expect(failures.map(({ kind, provider }) => [kind, provider])).toEqual([
      ['unreachable', 'unknown'],
      ['unreachable', 'gone'],
    ])
    expect(await failureOf(some.chat(call({ routes: [] })))).toMatchObject({ kind: 'unreachable' })
    await some.close()
  })
})

describe('a call that the wire format of a provider cannot express', () => {
  const parameters = { response_format: { type: 'json_object' } }
  const config = (more: object) => {
    const each = (kind: string, url: string) => ({ kind, baseUrl: `${url}/v1`, allowPrivateAddress: true, tries: 1 })
    return readProviders(
      JSON.stringify({
        first: { ...each('anthropic', first.url), ...more },
        second: each('openai-compatible', second.url),
      }),
      {},
    )
  }

  test('goes to a provider of another kind, and is not sent to this one', async () => {
    const some = openProviders(config({}), shares)
    expect((await some.chat(call({ routes: toBoth, parameters }))).route.provider).toBe('second')
    expect(await first.control.countCalls()).toBe(0)
    await some.close()
  })

  test('is refused with 400, unless a provider that can express it failed', async () => {
    const some = openProviders(config({}), shares)
    expect(await failureOf(complete(some, { parameters }))).toMatchObject({
      kind: 'refused',
      providerStatus: 400,
      asked: false,
    })
    await second.control.setFaults([{ status: 500 }])
    for (const routes of [toBoth, toBoth.toReversed()])
      expect(await failureOf(complete(some, { routes, parameters }))).toMatchObject({ providerStatus: 500 })
    await some.close()
  })
})

describe('a provider that keeps failing', () => {
  const settings = { circuitFailures: 3, circuitOpenMs: 1_000 }

  function watched(more: object = {}) {
    const { waits: _, ...options } = noted()
    const changes: string[] = []
    let nowMs = 0
    const providers = open(
      'openai-compatible',
      { ...settings, ...more },
      {
        ...options,
        nowMs: () => nowMs,
        circuitChanged: ({ provider, state }) => changes.push(`${provider} ${state}`),
      },
    )
    return { providers, changes, pass: (ms: number) => (nowMs += ms) }
  }

  async function failThrice(providers: ReturnType<typeof open>): Promise<void> {
    await first.control.setFaults([{ status: 500, times: 3 }])
    for (let i = 0; i < 3; i++) await failureOf(complete(providers))
    await first.control.clearCalls()
  }

  test('is no longer called: another one is, and without another the call fails at once', async () => {
    const { providers, changes } = watched()
    await failThrice(providers)
    failures.length = 0
    expect(await answeredBy(providers)).toBe('second')
    expect(await failureOf(complete(providers))).toMatchObject({
      kind: 'circuit_open',
      asked: false,
      retryAfterMs: 1_000,
    })
    expect(await first.control.countCalls()).toBe(0)
    expect([changes, failures]).toEqual([['first open'], []])
  })

  test('gets one probe once the circuit is half-open, and all calls again after the first byte of the probe', async () => {
    const { providers, changes, pass } = watched()
    await failThrice(providers)
    pass(1_000)
    await first.control.setFaults([{ hold: true, times: 1 }])
    const probe = openStream(providers)
    await first.control.waitForCalls(1)
    expect(await answeredBy(providers)).toBe('second')
    await first.control.release()
    const chunks = await probe
    expect(await answeredBy(providers)).toBe('first')
    await readAll(chunks)
    expect(changes).toEqual(['first open', 'first half-open', 'first closed'])
  })

  test('has its circuit opened again if the probe fails', async () => {
    const { providers, changes, pass } = watched()
    await failThrice(providers)
    pass(1_000)
    await first.control.setFaults([{ status: 500, times: 1 }])
    await failureOf(complete(providers))
    expect(await failureOf(complete(providers))).toMatchObject({ kind: 'circuit_open' })
    expect(changes).toEqual(['first open', 'first half-open', 'first open'])
  })

  test('has its circuit opened if it only truncates streams', async () => {
    const { providers, changes } = watched()
    await first.control.setFaults([{ cut: { afterChunk: 4 } }])
    for (let i = 0; i < 3; i++) await failureOf(readAll(await openStream(providers)))
    expect(changes).toEqual(['first open'])
  })

  test('keeps its circuit closed if it rejects bad requests or is busy', async () => {
    const { providers, changes } = watched()
    for (const status of [400, 404, 429]) {
      await first.control.setFaults([{ status }])
      for (let i = 0; i < 10; i++) await failureOf(complete(providers))
    }
    expect(changes).toEqual([])
  })

  test('keeps its circuit closed if it forbids one model, and is called for its others', async () => {
    const { providers, changes } = watched()
    await first.control.setFaults([{ model: 'x', status: 403 }])
    const [x, y] = ['x', 'y'].map((model) => [{ provider: 'first', model }])
    for (let i = 0; i < 30; i++) {
      expect(await failureOf(complete(providers, { routes: x! }))).toMatchObject({ providerStatus: 403 })
      expect(await answeredBy(providers, y)).toBe('first')
    }
    for (let i = 0; i < 30; i++) await failureOf(complete(providers, { routes: x! }))
    expect(await answeredBy(providers, y)).toBe('first')
    expect(changes).toEqual([])
  })

  test('keeps its circuit closed if what was requested is larger than allowed, and no other provider is called', async () => {
    const providers = open('openai-compatible', { tries: 3, circuitFailures: 2 })
    await first.control.setFaults([{ oversizedBytes: 40 * 1024 * 1024, times: 2 }])
    const embed = (texts: string[]) =>
      providers.embed({ routes: toBoth, project: 'prj_1', inputs: { kind: 'texts', texts }, dimensions: null })
    const limitBytes = expect.any(Number) as number
    for (let n = 0; n < 2; n++)
      expect(await failureOf(embed(Array.from({ length: 2_048 }, () => 'one')))).toMatchObject({ limitBytes })
    expect([await first.control.countCalls(), await second.control.countCalls()]).toEqual([2, 0])
    expect(await answeredBy(providers)).toBe('first')
    await first.control.setFaults([{ oversizedBytes: 40 * 1024 * 1024 }])
    expect((await embed(['one'])).vectors).toHaveLength(1) // no one asked for that much: the second one is called
  })

  test('keeps its circuit closed if callers abort their calls', async () => {
    const { providers, changes } = watched()
    await first.control.setFaults([{ hold: true }])
    for (let i = 0; i < 5; i++) {
      const leaving = new AbortController()
      const running = complete(providers, { signal: leaving.signal })
      await first.control.waitForCalls(i + 1)
      leaving.abort(new Error('enough'))
      await expect(running).rejects.toThrow('enough')
    }
    expect(changes).toEqual([])
  })
})

describe('what the operator records', () => {
  const reference = { product: 'acme/swift', invocation: 'inv_1' }

  /** Both providers, and the events of their calls as `<provider> <kind>`. */
  function observed(settings: object = {}) {
    const events: ProviderEvent[] = []
    const providers = open('openai-compatible', settings, { observe: (event) => events.push(event) })
    return { providers, events, seen: () => events.map(({ route, kind }) => `${route.provider} ${kind}`) }
  }

  test('is each attempt, and the fallback once another provider has answered', async () => {
    const { providers, events, seen } = observed()
    await first.control.setFaults([{ status: 503, times: 1 }])
    await complete(providers, { routes: toBoth, reference })
    await complete(providers, { routes: toBoth, reference })
    expect(seen()).toEqual(['first failed', 'second answered', 'first fell_back', 'first answered'])
    expect(events[0]).toMatchObject({
      reference,
      afterAnswer: false,
      failure: { providerStatus: 503 },
      project: 'prj_1',
    })
  })

  test('is a stream as answered at its first chunk, and as failed once it breaks off', async () => {
    const { providers, events, seen } = observed()
    await first.control.setFaults([{ cut: { afterChunk: 4 } }])
    await failureOf(readAll(await openStream(providers, { reference })))
    expect(seen()).toEqual(['first answered', 'first failed'])
    expect(events[1]).toMatchObject({ afterAnswer: true })
  })

  test('has the fallback from a provider that was skipped because its circuit was open', async () => {
    const { providers, seen } = observed({ circuitFailures: 1, circuitOpenMs: 60_000 })
    await first.control.setFaults([{ status: 503 }])
    for (let i = 0; i < 2; i++) await complete(providers, { routes: toBoth, reference })
    const expected = ['first failed', 'second answered', 'first fell_back', 'second answered', 'first fell_back']
    expect(seen()).toEqual(expected)
  })

  test('names the call of each failed attempt, also of one that no provider was asked for', async () => {
    const named: unknown[] = []
    const attemptFailed: ProvidersOptions['attemptFailed'] = ({ provider }, call) => named.push([provider, call])
    const providers = open('openai-compatible', {}, { attemptFailed })
    await first.control.setFaults([{ status: 503, times: 1 }])
    await complete(providers, { routes: [{ provider: 'unknown', model: 'm' }, ...toBoth], reference })
    expect(named).toEqual([
      ['unknown', reference],
      ['first', reference],
    ])
  })

  test('is nothing for a call without a reference', async () => {
    const { providers, seen } = observed()
    await complete(providers)
    expect(seen()).toEqual([])
  })
})

test('the first token of a stream comes before its end, also if both come at once', async () => {
  const providers = open('openai-compatible')
  for (let n = 0; n < 20; n++) {
    let ticks = 0
    const timing = openTimingLog(() => ++ticks)
    await readAll(await openStream(providers, { timing }))
    const { firstTokenMs, tries } = timing.read()
    expect(tries).toMatchObject([{ outcome: 'answered' }])
    expect(firstTokenMs).toBeLessThan(tries[0]!.endMs)
  }
})
