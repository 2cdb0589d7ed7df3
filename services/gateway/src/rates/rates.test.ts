import { noRateLimits, type RateLimits } from '@gateway/api/rates'
import { describe, expect, test } from 'vitest'
import { nothingHeld, giveBack, take, type Held } from './rate-windows.ts'
import { openRates, ratesConfig, tooOften, type Exceeded, type Place, type RatesConfig } from './rates.ts'

/** Rates that count in this process, for keys named `key of project`, or `key of project of lineage` for replacements. */
function open(
  config: RatesConfig = {},
  limits: { key?: Partial<RateLimits>; project?: Partial<RateLimits> } = {},
  gateways = 1,
) {
  const held = new Map<string, Held>()
  const of = (group: string) => held.get(group) ?? held.set(group, nothingHeld()).get(group)!
  let nowMs = 1_000_000
  let calls = 0
  const rates = openRates({
    config,
    keyGate: {
      identify: (name) => {
        const [key, project, lineage = key] = name.split(' of ') as [string, string, string?]
        const both = { key: { ...noRateLimits, ...limits.key }, project: { ...noRateLimits, ...limits.project } }
        return { key, lineage, project, rates: both, capture: null }
      },
    },
    store: {
      take: async (demand) => take(of(demand.group), demand, nowMs, gateways),
      giveBack: (r) => giveBack(of(r.group), r),
    },
  })
  return {
    passTime: (ms: number) => void (nowMs += ms),
    take: (key: string, call: { bytes: number; maxTokens: number } | null = { bytes: 0, maxTokens: 0 }) =>
      rates.take(key, `call ${++calls}`, call),
    async outcome(key: string, call?: { bytes: number; maxTokens: number } | null) {
      const place = await this.take(key, call)
      return 'exceeded' in place ? `${place.exceeded.scope} ${place.exceeded.limit}` : 'taken'
    },
  }
}

const [one, two, other] = ['key_1 of prj_1', 'key_2 of prj_1', 'key_3 of prj_2']
const minute = (requests: number) => ({ requests, seconds: 60 })

describe('rate limits', () => {
  test('limit no key without a limit', async () => {
    const rates = open()
    for (let n = 0; n < 1_000; n++) expect(await rates.outcome(one)).toBe('taken')
  })

  test.each([1, 4])(
    'do not ask for a repeat of a call that needs more tokens than the whole limit [rate_limited], with %i gateways',
    async (gateways) => {
      const rates = open({}, { key: { tokensPerMinute: 1_000 } }, gateways)
      const exceeded = (await rates.take(one, { bytes: 800, maxTokens: 4_000 })) as Exceeded
      const { body, headers } = tooOften(exceeded)
      expect(body.message).toBe('This call may use 4200 tokens, and this key may use 1000 in 60 s.')
      expect([headers['Retry-After'], headers['x-should-retry']]).toEqual([undefined, 'false'])
    },
  )

  test('admit the requests of a minute, counted from the first, and then say when to retry [rate_limited]', async () => {
    const rates = open({}, { key: { requestsPerMinute: 2 } })
    expect(await rates.outcome(one)).toBe('taken')
    rates.passTime(20_000)
    const second = (await rates.take(one)) as Place
    expect(second.headers).toEqual({
      'x-ratelimit-limit-requests': '2',
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': '40s',
    })
    const third = await rates.take(one)
    if (!('exceeded' in third)) throw new Error('a third call was let through')
    expect(third).toMatchObject({
      exceeded: { scope: 'key', limit: 'requests', max: 2, seconds: 60 },
      retryAfterMs: 40_000,
    })
    const refused = tooOften(third)
    expect(refused.headers).toMatchObject({ 'Retry-After': '30', 'x-ratelimit-remaining-requests': '0' })
    expect(refused.body.resolution).toBe('Retry in 40 seconds, when the limit resets, and spread your requests out.')
    rates.passTime(40_000)
    expect(await rates.outcome(one)).toBe('taken')
  })

  test('count a key and its replacements together', async () => {
    const rates = open({}, { key: { requestsPerMinute: 2, concurrentCalls: 1 } })
    const replacement = 'key_9 of prj_1 of key_1'
    const first = (await rates.take(one)) as Place
    expect(await rates.outcome(replacement)).toBe('key concurrent')
    first.settle(0)
    ;((await rates.take(replacement)) as Place).settle(0)
    expect(await rates.outcome(replacement)).toBe('key requests')
    expect(await rates.outcome('key_10 of prj_1')).toBe('taken')

    const byOperator = open({ key: minute(1) })
    expect(await byOperator.outcome(one)).toBe('taken')
    expect(await byOperator.outcome(replacement)).toBe('key requests')
  })

  test('count all keys of a project toward its limit, and nothing else', async () => {
    const rates = open({}, { project: { requestsPerMinute: 2 } })
    expect([await rates.outcome(one), await rates.outcome(two), await rates.outcome(one)]).toEqual([
      'taken',
      'taken',
      'project requests',
    ])
    expect(await rates.outcome(other)).toBe('taken')
  })

  test('reserve the tokens that a call may take, and correct them when it is settled', async () => {
    const rates = open({}, { key: { tokensPerMinute: 100 } })
    const first = (await rates.take(one, { bytes: 200, maxTokens: 30 })) as Place
    expect(first.headers['x-ratelimit-remaining-tokens']).toBe('20')
    expect(await rates.outcome(one, { bytes: 4, maxTokens: 20 })).toBe('key tokens')
    first.settle(90)
    first.settle(0)
    expect(await rates.outcome(one, { bytes: 40, maxTokens: 0 })).toBe('taken')
    expect(await rates.outcome(one, { bytes: 4, maxTokens: 0 })).toBe('key tokens')
    expect(await rates.outcome(one, null)).toBe('taken') // an execution
  })

  test('return the place of a call that was not admitted', async () => {
    const rates = open({}, { key: { requestsPerMinute: 1, tokensPerMinute: 100, concurrentCalls: 1 } })
    for (let n = 0; n < 3; n++) ((await rates.take(one, { bytes: 0, maxTokens: 100 })) as Place).undo()
    expect(await rates.outcome(one)).toBe('taken')
  })

  test('limit the calls that run at the same time, of a key and its project', async () => {
    const rates = open({}, { key: { concurrentCalls: 1 }, project: { concurrentCalls: 2 } })
    const first = (await rates.take(one)) as Place
    expect(await rates.outcome(one)).toBe('key concurrent')
    expect(await rates.outcome(two)).toBe('taken')
    expect(await rates.outcome('key_4 of prj_1')).toBe('project concurrent')
    first.settle(5)
    expect(await rates.outcome(one)).toBe('taken')
  })

  test('show and refuse by what this gateway grants, if it counts alone', async () => {
    const rates = open({}, { key: { requestsPerMinute: 11, tokensPerMinute: 100, concurrentCalls: 4 } }, 4)
    const first = (await rates.take(one, { bytes: 0, maxTokens: 20 })) as Place
    expect(first.headers).toMatchObject({
      'x-ratelimit-limit-requests': '2',
      'x-ratelimit-remaining-requests': '1',
      'x-ratelimit-limit-tokens': '25',
      'x-ratelimit-remaining-tokens': '5',
    })
    expect(await rates.take(one)).toMatchObject({ exceeded: { limit: 'concurrent', max: 1 } })
    first.settle(40)
    expect(await rates.take(one, { bytes: 0, maxTokens: 1 })).toMatchObject({
      exceeded: { limit: 'tokens', max: 25, seconds: 60 },
      headers: { 'x-ratelimit-remaining-requests': '1', 'x-ratelimit-remaining-tokens': '0' },
    })
    expect(await rates.outcome(one, null)).toBe('taken') // an execution
    expect(await rates.take(one, null)).toMatchObject({ exceeded: { limit: 'requests', max: 2 } })
  })

  test('grant a call beyond the share of this gateway, and then nothing until the mean is within the limit', async () => {
    const rates = open({}, { key: { tokensPerMinute: 100 } }, 4)
    const large = { bytes: 0, maxTokens: 60 }
    const first = (await rates.take(one, large)) as Place
    expect(first.headers).toEqual({
      'x-ratelimit-limit-tokens': '25',
      'x-ratelimit-remaining-tokens': '0',
      'x-ratelimit-reset-tokens': '3m0s',
    })
    rates.passTime(120_000)
    const second = await rates.take(one, { bytes: 0, maxTokens: 30 })
    expect(second).toMatchObject({ exceeded: { limit: 'tokens', max: 25 }, retryAfterMs: 60_000 })
    first.settle(26) // two shares, which have passed
    expect(await rates.outcome(one, { bytes: 0, maxTokens: 101 })).toBe('key tokens')
    expect(await rates.outcome(one, { bytes: 0, maxTokens: 100 })).toBe('taken')
    rates.passTime(239_999)
    expect(await rates.outcome(one, large)).toBe('key tokens')
    rates.passTime(1)
    expect(await rates.outcome(one, { bytes: 0, maxTokens: 20 })).toBe('taken')
    expect(await rates.take(one, large)).toMatchObject({ headers: { 'x-ratelimit-reset-tokens': '4m0s' } })
  })

  test('grant each gateway a request at a time where they have less than one each', async () => {
    const rates = open({ key: minute(2) }, {}, 4)
    const headers = { 'x-ratelimit-limit-requests': '1', 'x-ratelimit-reset-requests': '2m0s' }
    expect(await rates.take(one)).toMatchObject({ headers })
    rates.passTime(119_999)
    expect(await rates.outcome(one)).toBe('key requests')
    rates.passTime(1)
    expect(await rates.outcome(one)).toBe('taken')
  })

  test('of the operator apply too, with exceptions for single keys and projects', async () => {
    const rates = open({ key: minute(1), keys: { key_2: null }, project: minute(1), projects: { prj_1: minute(3) } })
    expect([await rates.outcome(one), await rates.outcome(one)]).toEqual(['taken', 'key requests'])
    expect([await rates.outcome(two), await rates.outcome(two), await rates.outcome(two)]).toEqual([
      'taken',
      'taken',
      'project requests',
    ])
  })

  test('of the operator for a key apply to its replacements, unless one has its own exception', async () => {
    const rates = open({ key: minute(5), keys: { key_1: minute(1), key_8: null, key_9: minute(2) } })
    expect(await rates.outcome(one)).toBe('taken')
    expect(await rates.outcome('key_7 of prj_1 of key_1')).toBe('key requests')
    const outcomes = []
    for (let n = 0; n < 3; n++) outcomes.push(await rates.outcome('key_9 of prj_1 of key_1'))
    expect(outcomes).toEqual(['taken', 'taken', 'key requests'])
    for (let n = 0; n < 6; n++) expect(await rates.outcome('key_8 of prj_1 of key_1')).toBe('taken')
  })

  test('reject an invalid configuration', () => {
    for (const wrong of [{ key: { requests: 0, seconds: 1 } }, { key: { requests: 1 } }, { user: {} }, { keys: 1 }])
      expect(ratesConfig.safeParse(wrong).success).toBe(false)
  })
})
