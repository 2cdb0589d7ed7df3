import { keyStatus } from '@gateway/api/key-status'
import { describe, expect } from 'vitest'
import { errorOf, stackTest, newPrompt } from '../../stack.fixture.ts'

const test = stackTest.extend('who', ({ tenant }) => {
  const ask = (secret: string, headers: Record<string, string> = {}) =>
    fetch(`${tenant.url}/v1/key`, { headers: { authorization: `Bearer ${secret}`, ...headers } })
  const status = async (secret: string) => keyStatus.parse(await (await ask(secret)).json())
  return { ask, status }
})

const call = (tenant: { chat: (fields: object, more: object) => Promise<Response> }, secret: string, fields = {}) =>
  tenant.chat({ max_tokens: 20, ...fields }, { headers: { authorization: `Bearer ${secret}` } })

describe('GET /v1/key', () => {
  test('shows the project and limits of the key but not the wallet', async ({ tenant, who }) => {
    const answer = await who.ask(tenant.secret)
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'private, no-store'])
    const { id, expiresAt, ...status } = keyStatus.parse(await answer.json())
    expect(id).toMatch(/^key_/)
    expect(Date.parse(expiresAt!)).toBeGreaterThan(0)
    expect(status).toEqual({
      object: 'key',
      tenant: tenant.owners.tenant,
      project: tenant.project,
      state: 'Active',
      policy: 'all-eligible',
      limit: null,
      spentMicro: null,
      reservedMicro: null,
      remainingMicro: null,
      resetsAt: null,
      rates: { requestsPerMinute: null, tokensPerMinute: null, concurrentCalls: null },
    })
  })

  test('shows the allowlist of a listed key', async ({ tenant, who }) => {
    const { secret } = await tenant.key({ policy: 'listed', resources: [tenant.model] })
    expect(await who.status(secret)).toMatchObject({ policy: 'listed', resources: [tenant.model] })
  })

  // spec: 1/s9
  test('shows the reserved amount while a call runs and the charge after it ends', async ({ stack, tenant, who }) => {
    const limit = { micro: 100_000n, reset: 'daily' as const }
    const { secret } = await tenant.key({ limit })
    const other = await tenant.key({ limit })
    const fresh = {
      limit: { micro: 100_000, reset: 'daily' },
      spentMicro: 0,
      reservedMicro: 0,
      remainingMicro: 100_000,
    }
    expect(await who.status(secret)).toMatchObject(fresh)
    const prompt = newPrompt()
    await stack.provider.control.setFaults([{ prompt, hold: true }])
    const running = call(tenant, secret, { messages: [{ role: 'user', content: prompt }] })
    await stack.provider.control.waitForCalls(1, { prompt })
    const during = await who.status(secret)
    const reserved = (await tenant.wallet()).reserved
    expect(during).toMatchObject({ spentMicro: 0, reservedMicro: reserved, remainingMicro: 100_000 - reserved })
    await stack.provider.control.clearFaults()
    await stack.provider.control.release()
    await (await running).text()
    const spent = (await tenant.wallet()).settled
    expect(await who.status(secret)).toMatchObject({
      spentMicro: spent,
      reservedMicro: 0,
      remainingMicro: 100_000 - spent,
    })
    expect(await who.status(other.secret)).toMatchObject(fresh)
  })

  test.for(['daily', 'weekly', 'monthly', 'lifetime'] as const)(
    'shows the same end of a %s window as the refusal of a call [key_limit]',
    async (reset, { tenant, who }) => {
      const { secret } = await tenant.key({ limit: { micro: 1n, reset } })
      const refused = await errorOf(await call(tenant, secret))
      const { resetsAt } = await who.status(secret)
      expect(refused).toMatchObject({ code: 'key_limit', details: { resetsAt } })
      if (reset === 'lifetime') expect(resetsAt).toBeNull()
      else expect(Date.parse(resetsAt!)).toBeGreaterThan(Date.now())
    },
  )

  test('shows zero spend once the window has passed, before any call resets it', async ({ tenant, who, fixture }) => {
    const { id, secret } = await tenant.key({ limit: { micro: 100_000n, reset: 'weekly' } })
    await (await call(tenant, secret)).text()
    const before = await who.status(secret)
    expect(before.spentMicro).toBeGreaterThan(0)
    await fixture.run(`UPDATE money.meters SET window_start = window_start - interval '7 days' WHERE lineage = $1`, [
      id,
    ])
    const { resetsAt } = before
    expect(await who.status(secret)).toMatchObject({ spentMicro: 0, remainingMicro: 100_000, resetsAt })
  })

  // spec: 2.1/r9, 3.2/s3, 5/s8, 7/r2
  test('is refused with the same bytes as a call [key_revoked, key_expired, key_unbound, key_issuer_denied, project_mismatch]', async ({
    tenant,
    who,
    fixture,
  }) => {
    const keys = [
      await tenant.key({ revoked: true }),
      await tenant.key({ expiresInMs: -1 }),
      await tenant.key({ by: await fixture.user() }),
      await fixture.key({ project: null, tenant: tenant.owners.tenant, by: tenant.owners.owner }),
    ]
    const codes = ['key_revoked', 'key_expired', 'key_issuer_denied', 'key_unbound']
    for (const [n, { secret }] of keys.entries()) {
      const [asked, chat] = await Promise.all([who.ask(secret), call(tenant, secret)])
      const text = await asked.text()
      expect([asked.status, text]).toEqual([chat.status, await chat.text()])
      expect(JSON.parse(text)).toMatchObject({ error: { code: codes[n] } })
    }
    const elsewhere = await who.ask(tenant.secret, { 'x-service-project': 'prj_other' })
    expect([elsewhere.status, (await errorOf(elsewhere))['code']]).toEqual([403, 'project_mismatch'])
    expect((await who.ask(tenant.secret, { 'x-project-id': tenant.project })).status).toBe(200)
  })

  test('allows only GET and requires a key [method_not_allowed, key_missing]', async ({ tenant }) => {
    const posted = await fetch(`${tenant.url}/v1/key`, { method: 'POST', headers: tenant.headers })
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET'])
    expect((await fetch(`${tenant.url}/v1/key`)).status).toBe(401)
  })
})
