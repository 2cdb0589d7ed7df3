import { describe, expect } from 'vitest'
import type { KeyStatus } from '@gateway/contracts/key-status'
import { windowEndMs, windowStartMs, type Reset } from '@gateway/money/spending-window'
import type { KeyFixture } from '@gateway/testbed/fixture'
import { answerOf, callerAt, refusalIn, said } from './src/caller.ts'
import { stackTest as test } from './src/stack-test.ts'
import { chat, type Stack, type TenantFixture } from './src/stack.ts'
import { meterOf, windowPasses } from './src/meters.ts'

// A key's limit holds to the micro-USD (rules §6.6, money §6): under fire, over rotations, at the turn of a window.

const CALLERS = 200
/** Each call of a `flatTenant` is held and charged at this much, so that a limit can be filled to the last micro-USD. */
const PRICE = 7n

async function flatTenant(stack: Stack, limit: { micro: bigint; reset: Reset }): Promise<TenantFixture> {
  const tenant = await stack.tenant(1_000_000_000n, { limit })
  const model = await stack.fixture.publishProduct({ requestPico: PRICE * 1_000_000n })
  await stack.fixture.assign(tenant.project.id, model)
  return { ...tenant, model }
}

interface Load {
  /** How the calls ended that have ended by now. */
  ends: Record<string, number>
  /** Resolves once everybody was stopped. */
  done: Promise<unknown>
}

/** Everybody calls until a limit stops them, with one of the keys and then another. */
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

async function rolesOf(stack: Stack, { secret }: Pick<KeyFixture, 'secret'>, gateway = 0): Promise<KeyStatus> {
  const { status, body } = await callerAt(stack.gateways[gateway]!.url, secret).ask('GET', '/v1/key')
  expect(status).toBe(200)
  return body as KeyStatus
}

describe(`${CALLERS} callers at once`, () => {
  // spec: 5/s8
  test('fill a limit to the last call that fits, and not one micro-USD further [key_limit]', async ({ stack }) => {
    const fit = 1_000n
    const limit = PRICE * fit + PRICE - 1n
    const tenant = await flatTenant(stack, { micro: limit, reset: 'daily' })
    let watching = true
    let seen = 0n
    const watch = (async () => {
      for (let n = 0; watching; n++) {
        const { spentMicro, reservedMicro, remainingMicro } = await rolesOf(stack, tenant.key, n % 2)
        expect(remainingMicro).toBeGreaterThanOrEqual(0)
        expect(BigInt(spentMicro! + reservedMicro! + remainingMicro!)).toBe(limit)
        if (BigInt(spentMicro!) > seen) seen = BigInt(spentMicro!)
      }
    })()
    const { ends, done } = startCalling(stack, tenant, [tenant.key])
    await done
    watching = false
    await watch
    expect(ends).toEqual({ 200: Number(fit), '403 key_limit': CALLERS })
    expect(seen).toBeGreaterThan(0n)
    expect(await meterOf(stack, tenant.key.id)).toMatchObject({ spent: PRICE * fit, reserved: 0n, limit })
    expect(await rolesOf(stack, tenant.key)).toMatchObject({ remainingMicro: Number(PRICE - 1n) })
    expect((await stack.wallet(tenant.project.id)).settled).toBe(PRICE * fit)
    expect(await stack.findings([tenant.project.id])).toEqual([])
  })

  test('whose calls cost less than they hold leave less over than one call needs [key_limit]', async ({ stack }) => {
    const tenant = await stack.tenant(1_000_000_000n, { limit: { micro: 20_000n, reset: 'lifetime' } })
    const { ends, done } = startCalling(stack, tenant, [tenant.key])
    await done
    expect(Object.keys(ends).toSorted()).toEqual(['200', '403 key_limit'])
    for (;;) {
      // Most were stopped by what others held; one alone is stopped by what is spent.
      const answer = await answerOf(await chat(stack, tenant))
      if (answer.status === 200) continue
      const { details } = refusalIn(answer)!
      const { limitMicro, spentMicro, reservedMicro, neededMicro } = details as Record<string, number>
      expect([limitMicro, reservedMicro]).toEqual([20_000, 0])
      expect(spentMicro).toBeLessThanOrEqual(20_000)
      expect(spentMicro! + neededMicro!).toBeGreaterThan(20_000)
      expect((await meterOf(stack, tenant.key.id)).spent).toBe(BigInt(spentMicro!))
      break
    }
    expect(await stack.findings([tenant.project.id])).toEqual([])
  })

  test('with a key that is rotated three times meanwhile share one meter with its replacements [key_limit]', async ({
    stack,
  }) => {
    const fit = 1_500n
    const tenant = await flatTenant(stack, { micro: PRICE * fit, reset: 'monthly' })
    const keys = [tenant.key]
    async function rotate(): Promise<void> {
      const old = keys.at(-1)!
      const { id, tenant: tenantId } = await rolesOf(stack, old)
      const { status, body } = await callerAt(stack.gateways[1]!.url, old.secret).ask(
        'POST',
        `/api/v2/tenants/${tenantId}/keys/${id}/rotate`,
        { graceSeconds: 600 },
      )
      expect(status).toBe(201)
      keys.push({ ...old, id: body.key.id, secret: body.secret })
    }
    const { ends, done } = startCalling(stack, tenant, keys)
    for (const admitted of [100, 300, 500]) {
      while (ends['200']! < admitted) await new Promise((resolve) => setTimeout(resolve, 5))
      await rotate()
    }
    await done
    expect(ends).toEqual({ 200: Number(fit), '403 key_limit': CALLERS })
    expect(await meterOf(stack, tenant.key.id)).toMatchObject({ spent: PRICE * fit, reserved: 0n })
    const calls = await stack.invocations(tenant.project.id)
    const charged = new Set(calls.map(({ key }) => key)) // the last ones may have come when nothing was left
    expect(charged.size).toBeGreaterThan(1)
    expect(keys.map(({ id }) => id)).toEqual(expect.arrayContaining([...charged]))
    for (const [n, key] of keys.entries())
      expect(await rolesOf(stack, key)).toMatchObject({
        id: key.id,
        state: n < 3 ? 'Rotated' : 'Active',
        spentMicro: Number(PRICE * fit),
        remainingMicro: 0,
      })
    expect(await stack.findings([tenant.project.id])).toEqual([])
  })
})

describe('a window', () => {
  const resets = ['daily', 'weekly', 'monthly', 'lifetime'] as const

  test('begins at UTC midnight, on ISO Monday, on the first, wherever the database is', async ({ stack }) => {
    const examples = [
      ['2026-11-19T23:59:59.999Z', '2026-11-19', '2026-11-16', '2026-11-01'],
      ['2026-11-20T00:00:00.000Z', '2026-11-20', '2026-11-16', '2026-11-01'],
      ['2026-11-22T23:59:59.999Z', '2026-11-22', '2026-11-16', '2026-11-01'], // a Sunday
      ['2026-11-23T00:00:00.000Z', '2026-11-23', '2026-11-23', '2026-11-01'], // a Monday
      ['2026-11-30T23:59:59.999Z', '2026-11-30', '2026-11-30', '2026-11-01'],
      ['2026-12-01T00:00:00.000Z', '2026-12-01', '2026-11-30', '2026-12-01'],
      ['2027-01-01T00:00:00.000Z', '2027-01-01', '2026-12-28', '2027-01-01'], // in a week of the year before
      ['2028-02-29T12:00:00.000Z', '2028-02-29', '2028-02-28', '2028-02-01'],
      ['2026-03-29T01:30:00.000Z', '2026-03-29', '2026-03-23', '2026-03-01'], // clocks are put forward elsewhere
    ]
    for (const zone of ['UTC', 'Pacific/Kiritimati', 'America/Los_Angeles', 'Europe/Zurich']) {
      await stack.fixture.run(`SET TimeZone = '${zone}'`)
      for (const [moment, ...starts] of examples)
        for (const [n, reset] of resets.entries())
          expect([zone, moment, reset, await windowStart(stack, reset, moment!)]).toEqual(
            [zone, moment, reset, Date.parse(starts[n] ?? '1970-01-01')], // a lifetime has one window
          )
    }
    await stack.fixture.run('SET TimeZone = DEFAULT')
  })

  test('is the same for the database and for whoever says when it ends', async ({ stack }) => {
    const { rows } = await stack.fixture.run(
      `SELECT reset, (extract(epoch FROM moment) * 1000)::float8 AS "atMs",
              (extract(epoch FROM money.window_start_v1(reset, moment)) * 1000)::float8 AS "startMs"
         FROM (SELECT timestamptz '2020-01-01 UTC' + n * interval '4 hours 37 minutes 13.077 seconds' AS moment
                 FROM generate_series(0, 9999) n) m, unnest($1::text[]) reset`,
      [resets],
    )
    const wrong = (rows as { reset: Reset; atMs: number; startMs: number }[]).filter(({ reset, atMs, startMs }) => {
      const endMs = windowEndMs(reset, startMs) ?? Infinity
      return windowStartMs(reset, atMs) !== startMs || atMs < startMs || atMs >= endMs
    })
    expect([rows.length, wrong]).toEqual([40_000, []])
  })

  for (const reset of ['daily', 'weekly', 'monthly'] as const)
    // spec: 2.1/r6, 5/s8, 7/r7, 8.3/s2
    test(`that is ${reset} starts full once it has passed, and what was admitted before counts before [key_limit]`, async ({
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
      expect(await rolesOf(stack, tenant.key)).toMatchObject({ spentMicro: 0, reservedMicro: 0 })
      expect(await call()).toBe('200')
      const after = await meterOf(stack, tenant.key.id)
      expect(after).toMatchObject({ spent: PRICE, reserved: 0n, windowStart: before.windowStart })

      await stack.provider.control.clearFaults()
      await stack.provider.control.release()
      expect((await late).status).toBe(200)
      expect(await meterOf(stack, tenant.key.id)).toEqual(after)
      expect((await stack.wallet(tenant.project.id)).settled).toBe(PRICE * 4n)
      expect([await call(), await call(), await call()]).toEqual(['200', '200', '403 key_limit'])
      expect(await stack.findings([tenant.project.id])).toEqual([])
    })

  // spec: 2.1/r6, 8.3/s2
  test('of a lifetime never passes [key_limit]', async ({ stack }) => {
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

async function windowStart({ fixture }: Stack, reset: Reset, moment: string): Promise<number> {
  const { rows } = await fixture.run('SELECT money.window_start_v1($1, $2::timestamptz) AS start', [reset, moment])
  return (rows[0] as { start: Date }).start.getTime()
}
