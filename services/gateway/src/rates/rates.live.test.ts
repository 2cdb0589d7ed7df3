import { describe, expect } from 'vitest'
import { errorOf, stackTest, newPrompt } from '../stack.fixture.ts'

const test = stackTest.extend('settings', { scope: 'file' }, () => ({
  gateway: { RATES: JSON.stringify({ key: { requests: 3, seconds: 600 } }) },
}))

describe('a key at its rate limit', () => {
  test('gets 429 with Retry-After and is charged nothing [rate_limited]', async ({ tenant }) => {
    for (let n = 0; n < 3; n++) expect((await tenant.chat()).status).toBe(200)
    const before = await tenant.wallet()
    const refused = await tenant.chat()
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('30') // the maximum Retry-After
    const error = await errorOf(refused)
    expect(error).toMatchObject({
      code: 'rate_limited',
      type: 'rate_limit_error',
      details: { scope: 'key', limit: 'requests', max: 3, seconds: 600 },
    })
    const seconds = Number(/^Retry in (\d+) seconds/.exec(String(error['resolution']))?.[1])
    expect(seconds).toBeGreaterThan(570) // the whole wait
    expect(seconds).toBeLessThanOrEqual(600)
    expect(await tenant.wallet()).toEqual(before)
    expect(before.reserved).toBe(0)
  })

  test('gets exactly three of 20 concurrent calls admitted [rate_limited]', async ({ tenant, stack }) => {
    const content = newPrompt()
    const ask = () => tenant.chat({ messages: [{ role: 'user', content }] })
    const answers = await Promise.all(Array.from({ length: 20 }, ask))
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b)
    expect(statuses).toEqual([200, 200, 200, ...Array(17).fill(429)])
    expect(await stack.provider.control.countCalls({ prompt: content })).toBe(3)
    expect((await tenant.wallet()).reserved).toBe(0)
  })

  test('gets the error of any check that precedes the rate check', async ({ tenant, fixture }) => {
    for (let n = 0; n < 3; n++) await tenant.chat()
    const codeOf = async (fields: object, headers: Record<string, string> = {}) =>
      (await errorOf(await tenant.chat(fields, { headers })))['code']
    expect(await codeOf({ model: 'acme/none' })).toBe('model_not_found')
    expect(await codeOf({ project_id: 'prj_other' })).toBe('project_mismatch')
    expect(await codeOf({ temperature: 3 })).toBe('invalid_request')
    expect(await codeOf({ model: await tenant.sell({ maxOutputTokens: 10 }), max_tokens: 11 })).toBe('context_limit')
    expect(await codeOf({ model: await tenant.sell({ requestPico: 2_000_000_000_000n }) })).toBe('rate_limited') // not 402
    await fixture.run('UPDATE control.keys SET revoked_at = now() WHERE hash = decode($1, $2)', [tenant.hash, 'hex'])
    expect(await codeOf({})).toBe('key_revoked')
  })

  test('still gets replays of responses it has paid for', async ({ tenant }) => {
    const call = { messages: [{ role: 'user', content: newPrompt() }] }
    const headers = { 'idempotency-key': newPrompt() }
    const first = await tenant.chat(call, { headers })
    for (let n = 0; n < 2; n++) await tenant.chat()
    for (let n = 0; n < 5; n++) {
      const again = await tenant.chat(call, { headers })
      expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true'])
    }
    expect((await tenant.chat()).status).toBe(429)
    expect(first.status).toBe(200)
  })

  test('does not affect another key of its project', async ({ tenant }) => {
    for (let n = 0; n < 4; n++) await tenant.chat()
    const { secret } = await tenant.key()
    expect((await tenant.chat({}, { headers: { authorization: `Bearer ${secret}` } })).status).toBe(200)
  })
})

describe('the limits of a key', () => {
  test('of requests, tokens and running calls show in headers, and the call beyond one gets 429 [rate_limited]', async ({
    tenant,
    stack,
  }) => {
    const { secret } = await tenant.key({
      rates: { requestsPerMinute: 3, tokensPerMinute: 10_000, concurrentCalls: 1 },
    })
    const ask = (fields: object = {}) => tenant.chat(fields, { headers: { authorization: `Bearer ${secret}` } })
    const first = await ask({ max_tokens: 20 })
    const headers = Object.fromEntries([...first.headers].filter(([name]) => name.startsWith('x-ratelimit')))
    expect(headers).toEqual({
      'x-ratelimit-limit-requests': '3',
      'x-ratelimit-remaining-requests': '2',
      'x-ratelimit-reset-requests': expect.stringMatching(/^(\d+s|1m0s)$/),
      'x-ratelimit-limit-tokens': '10000',
      'x-ratelimit-remaining-tokens': expect.stringMatching(/^99\d\d$/),
      'x-ratelimit-reset-tokens': expect.stringMatching(/^(\d+s|1m0s)$/),
    })

    const tooLarge = await ask({ max_tokens: 8_192, messages: [{ role: 'user', content: 'x'.repeat(8_000) }] })
    expect(await errorOf(tooLarge)).toMatchObject({ code: 'rate_limited', details: { scope: 'key', limit: 'tokens' } })

    const content = newPrompt()
    await stack.provider.control.setFaults([{ prompt: content, hold: true }])
    const held = ask({ messages: [{ role: 'user', content }] })
    await stack.provider.control.waitForCalls(1, { prompt: content, outcome: 'open' })
    expect(await errorOf(await ask())).toMatchObject({ details: { scope: 'key', limit: 'concurrent', max: 1 } })
    await stack.provider.control.release()
    expect((await held).status).toBe(200)

    await tenant.settled()
    expect((await ask()).status).toBe(200)
    const fourth = await ask()
    expect(await errorOf(fourth)).toMatchObject({ details: { scope: 'key', limit: 'requests', max: 3, seconds: 60 } })
    expect(fourth.headers.get('x-ratelimit-remaining-requests')).toBe('0')
  })
})
