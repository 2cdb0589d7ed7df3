import { describe, expect } from 'vitest'
import type { KeyStatus } from '@gateway/api/key-status'
import { windowEndMs, windowStartMs, type Reset } from '@gateway/pricing/spending-window'
import type { KeyFixture } from '@gateway/testbed/fixture'
import { answerOf, callerAt, refusalIn, said } from './src/caller.ts'
import { liveStackTest as test } from './src/live-stack-test.ts'
import { chat, type Stack, type TenantFixture } from './src/stack.ts'
import { meterOf, windowPasses } from './src/meters.ts'
import { paidFlow } from './src/paid-flows.ts'

// A key's limit holds to the micro-USD (rules §6.6, money §6): under load, across rotations, and at the end of a window.

const CALLERS = 50
/** Micro-USD reserved and charged for each call of a `flatTenant`, so that a limit can be filled exactly. */
const PRICE = 7n

async function flatTenant(stack: Stack, limit: { micro: bigint; reset: Reset }): Promise<TenantFixture> {
  const tenant = await stack.tenant(1_000_000_000n, { limit })
  const model = await stack.fixture.publishProduct({ requestPico: PRICE * 1_000_000n })
  await stack.fixture.assign(tenant.project.id, model)
  return { ...tenant, model }
}

interface Load {
  /** Number of calls so far by outcome. */
  ends: Record<string, number>
  /** Resolves once every caller has been refused. */
  done: Promise<unknown>
}

/** Starts callers that alternate between the keys until a limit refuses them. */
function startCalling(stack: Stack, { model }: TenantFixture, keys: KeyFixture[]): Load {
  const ends: Record<string, number> = { 200: 0 }
  async function oneCaller(caller: number): Promise<void> {
    for (let n = caller; ; n += 7) {
      const end = said(await answerOf(await chat(stack, { key: keys[n % keys.length]!, model }, { gateway: n })))
      ends[end] = (ends[end] ?? 0) + 1
      if (end !== '200') return
    }
  }
  return { ends, done: Promise.all(Array.from({ length: CALLERS }, (_, caller) => oneCaller(caller))) }
}

async function statusOf(stack: Stack, { secret }: Pick<KeyFixture, 'secret'>): Promise<KeyStatus> {
  const { status, body } = await callerAt(stack.gateways[0]!.url, secret).ask('GET', '/v1/key')
  expect(status).toBe(200)
  return body as KeyStatus
}

describe(`${CALLERS} concurrent callers`, () => {
  test('share one meter across a key and its replacements while the key is rotated three times [key_limit]', async ({
    stack,
  }) => {
    const fit = 500n
    const tenant = await flatTenant(stack, { micro: PRICE * fit, reset: 'monthly' })
    const keys = [tenant.key]
    async function rotate(): Promise<void> {
      const old = keys.at(-1)!
      const { id, tenant: tenantId } = await statusOf(stack, old)
      const { status, body } = await callerAt(stack.gateways[0]!.url, old.secret).ask(
        'POST',
        `/api/v2/tenants/${tenantId}/keys/${id}/rotate`,
        { graceSeconds: 600 },
      )
      expect(status).toBe(201)
      keys.push({ ...old, id: body.key.id, secret: body.secret })
    }
    const { ends, done } = startCalling(stack, tenant, keys)
    for (const admitted of [30, 100, 170]) {
      while (ends['200']! < admitted) await new Promise((resolve) => setTimeout(resolve, 5))
      await rotate()
    }
    await done
    expect(ends).toEqual({ 200: Number(fit), '403 key_limit': CALLERS })
    expect(await meterOf(stack, tenant.key.id)).toMatchObject({ spent: PRICE * fit, reserved: 0n })
    const calls = await stack.invocations(tenant.project.id)
    const charged = new Set(calls.map(({ key }) => key)) // the last keys may have been issued after the limit was reached
    expect(charged.size).toBeGreaterThan(1)
    expect(keys.map(({ id }) => id)).toEqual(expect.arrayContaining([...charged]))
    for (const [n, key] of keys.entries())
      expect(await statusOf(stack, key)).toMatchObject({
        id: key.id,
        state: n < 3 ? 'Rotated' : 'Active',
        spentMicro: Number(PRICE * fit),
        remainingMicro: 0,
      })
    expect(await stack.findings([tenant.project.id])).toEqual([])
  })
})

describe('a spending window', () => {
  const resets = ['daily', 'weekly', 'monthly', 'lifetime'] as const

  test('has the same bounds in the database and in responses, in every time zone', async ({ stack }) => {
    for (const zone of ['UTC', 'Pacific/Kiritimati', 'America/Los_Angeles', 'Europe/Zurich']) {
      await stack.fixture.run(`SET TimeZone = '${zone}'`)
      const { rows } = await stack.fixture.run(
        `SELECT reset, (extract(epoch FROM moment) * 1000)::float8 AS "atMs",
                (extract(epoch FROM money.window_start(reset, moment)) * 1000)::float8 AS "startMs"
           FROM (SELECT timestamptz '2020-01-01 UTC' + n * interval '18 hours 28 minutes 52.308 seconds' AS moment
                   FROM generate_series(0, 2499) n) m, unnest($1::text[]) reset`,
        [resets],
      )
      const wrong = (rows as { reset: Reset; atMs: number; startMs: number }[]).filter(({ reset, atMs, startMs }) => {
        const endMs = windowEndMs(reset, startMs) ?? Infinity
        return windowStartMs(reset, atMs) !== startMs || atMs < startMs || atMs >= endMs
      })
      expect([zone, rows.length, wrong]).toEqual([zone, 10_000, []])
    }
    await stack.fixture.run('SET TimeZone = DEFAULT')
  })

  for (const reset of ['daily', 'weekly', 'monthly'] as const)
    // spec: 2.1/r6, 5/s8, 7/r7, 8.3/s2
    test(`that is ${reset} resets when it ends, and counts a call in the window that admitted it [key_limit]`, async ({
      stack,
    }) => {
      const tenant = await flatTenant(stack, { micro: PRICE * 3n, reset })
      const call = async () => said(await answerOf(await chat(stack, tenant)))
      const prompt = `Late ${tenant.project.id}`
      await stack.provider.control.setFaults([{ prompt, hold: true }])
      const late = chat(stack, tenant, { body: { messages: [{ role: 'user', content: prompt }] } })
      await stack.provider.control.waitForCalls(1, { prompt })
      expect([await call(), await call(), await call()]).toEqual(['200', '200', '403 key_limit'])
      const before = await meterOf(stack, tenant.key.id)
      expect(before).toMatchObject({ spent: PRICE * 2n, reserved: PRICE })

      await windowPasses(stack, tenant.key.id, reset)
      expect(await statusOf(stack, tenant.key)).toMatchObject({ spentMicro: 0, reservedMicro: 0 })
      expect(await call()).toBe('200')
      const after = await meterOf(stack, tenant.key.id)
      expect(after).toMatchObject({ spent: PRICE, reserved: 0n, windowStart: before.windowStart })

      await stack.provider.control.clearFaults()
      await stack.provider.control.release()
      expect((await late).status).toBe(200)
      expect(await meterOf(stack, tenant.key.id)).toEqual(after)
      expect((await stack.wallet(tenant.project.id)).settled).toBe(PRICE * 4n)
      expect([await call(), await call(), await call()]).toEqual(['200', '200', '403 key_limit'])
    })

  test('that a running call has reserved starts a flow, which waits for the call to settle', async ({ stack }) => {
    const { fixture, gateways, provider } = stack
    const tenant = await stack.tenant(1_000_000n, { limit: { micro: 1_000n, reset: 'daily' } })
    const model = await fixture.publishProduct({ promptPico: 0n, completionPico: 1_000_000n })
    await fixture.assign(tenant.project.id, model)
    const sandbox = await fixture.sandbox(tenant.project, paidFlow(model, 1), { activate: true })
    const prompt = `Running ${tenant.key.id}`
    await provider.control.setFaults([{ prompt, hold: true }])
    const body = { max_tokens: 1_000, messages: [{ role: 'user', content: prompt }] }
    const running = chat(stack, { ...tenant, model }, { body })
    await provider.control.waitForCalls(1, { prompt })
    expect(await meterOf(stack, tenant.key.id)).toMatchObject({ spent: 0n, reserved: 1_000n })
    const started = await fetch(`${gateways[0]!.url}/v1/sandbox/${sandbox.id}/invoke`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${tenant.key.secret}`,
        'content-type': 'application/json',
        accept: 'application/x-ndjson',
        'idempotency-key': 'while-one-runs',
      },
      body: JSON.stringify({ input: { text: 'a' } }),
    })
    await provider.control.clearFaults()
    await provider.control.release()
    expect((await running).status).toBe(200)
    expect(started.status).toBe(200)
    expect(await started.text()).toContain('"status":"Succeeded"')
    const { spent, reserved } = await meterOf(stack, tenant.key.id)
    expect([spent > 0n, reserved]).toEqual([true, 0n])
  })

  // spec: 2.1/r6, 8.3/s2
  test('that is lifetime never resets [key_limit]', async ({ stack }) => {
    const tenant = await flatTenant(stack, { micro: PRICE, reset: 'lifetime' })
    const call = async () => answerOf(await chat(stack, tenant))
    expect(said(await call())).toBe('200')
    await windowPasses(stack, tenant.key.id, 'lifetime')
    const refused = await call()
    expect(said(refused)).toBe('403 key_limit')
    expect(refusalIn(refused)).toMatchObject({
      details: { resetsAt: null },
      resolution: expect.stringContaining('does not reset'),
    })
  })
})
