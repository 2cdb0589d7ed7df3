import { describe, expect } from 'vitest'
import { LATENCY_BUCKETS, latencyBucket } from '@gateway/ledger-protocol/provider-report'
import { type Caller, consoleTest, outcomeOf } from '../console.fixture.ts'

const PROVIDERS = '/api/v2/providers'

const test = consoleTest
  .extend('operator', async ({ signIn }) => signIn({ platformOperator: true }))
  .extend('seen', async ({ fixture, task }) => {
    const name = `p-${task.id.replaceAll(/[^a-z0-9]/g, '')}`
    const latency = (ms: number, count: number) =>
      Array.from({ length: LATENCY_BUCKETS }, (_, n) => (n === latencyBucket(ms) ? count : 0))
    return {
      name,
      /** Records counts of a slot, some minutes ago. */
      async slot(
        minutesAgo: number,
        { answered = 0, cut = 0, failed = 0, rejected = 0, fallbacks = 0, ms = 100, product = 'acme/swift' } = {},
      ) {
        await fixture.run(
          `INSERT INTO money.provider_slots (slot, provider, model, product, answered, cut, failed, rejected, fallbacks, latency)
           VALUES (date_bin('5 minutes', now() - $1::int * interval '1 minute', 'epoch'), $2, 'm-1', $3, $4, $5, $6, $7, $8, $9)`,
          [minutesAgo, name, product, answered, cut, failed, rejected, fallbacks, latency(ms, answered)],
        )
      },
      async failure(project: string, n: number) {
        await fixture.run(
          `INSERT INTO money.provider_failures (provider, at, id, model, product, project, invocation, kind, status, code)
           VALUES ($1, now() - $2::int * interval '1 minute', $3, 'm-1', 'acme/swift', $4, $3, 'refused', 503, 'overloaded')`,
          [name, n, `inv_${n}`, project],
        )
      },
      /** Records a process that reported some seconds ago. */
      async process(sender: string, secondsAgo: number, { circuit = 'closed', credential = 'environment' } = {}) {
        await fixture.run(
          `INSERT INTO money.provider_senders (sender, service, report, started_at, at)
           VALUES ($1, 'gateway', 1, now() - interval '1 hour', now() - $2::int * interval '1 second')`,
          [`${name} ${sender}`, secondsAgo],
        )
        await fixture.run(
          `INSERT INTO money.provider_states (sender, provider, kind, credential, credential_at, circuit, circuit_at)
           VALUES ($1, $2, 'anthropic', $3, NULL, $4, now())`,
          [`${name} ${sender}`, name, credential, circuit],
        )
      },
    }
  })

describe(`GET ${PROVIDERS}`, () => {
  test('sums the slots of the range by provider and product', async ({ operator, seen }) => {
    await seen.slot(10, { answered: 8, cut: 1, failed: 2, rejected: 3, fallbacks: 2, ms: 100 })
    await seen.slot(20, { answered: 2, ms: 9_000, product: 'acme/sage' })
    await seen.slot(180, { answered: 100 })
    const read = async (range: string) =>
      (await operator.get(`${PROVIDERS}?range=${range}`)).body.data.find(
        ({ provider }: { provider: string }) => provider === seen.name,
      )
    const lastHour = await read('hour')
    expect(lastHour).toMatchObject({ calls: 15, failed: 3, rejected: 3, fallbacks: 2 })
    expect(lastHour.p50Ms).toBeLessThan(120)
    expect(lastHour.p95Ms).toBeGreaterThan(7_000)
    expect(lastHour.deployments).toMatchObject([
      { product: 'acme/sage', calls: 2, isRouted: false },
      { product: 'acme/swift', calls: 13, failed: 3 },
    ])
    const inSteps = (figure: string) =>
      lastHour.steps.reduce((sum: number, step: Record<string, number>) => sum + step[figure]!, 0)
    expect(['calls', 'failed', 'rejected'].map(inSteps)).toEqual([15, 3, 3])
    expect(await read('day')).toMatchObject({ calls: 115 })
  })

  test('names the call of a failure only to an operator with a role on its project', async ({
    signIn,
    stack,
    seen,
  }) => {
    for (let n = 1; n <= 12; n++) await seen.failure(stack.project, n)
    await seen.slot(1, { failed: 12 })
    const failuresSeenBy = async (caller: Caller) => {
      const { body } = await caller.get(PROVIDERS)
      return body.data.find(({ provider }: { provider: string }) => provider === seen.name).failures
    }
    const outside = await signIn({ platformOperator: true })
    const all = await failuresSeenBy(outside)
    expect(all).toHaveLength(10)
    expect(all[0]).toMatchObject({ kind: 'refused', status: 503, code: 'overloaded', call: null })

    await stack.fixture.run('UPDATE control.users SET platform_operator = true WHERE id = $1', [stack.owner.id])
    const inside = await failuresSeenBy(await signIn({ id: stack.owner.id }))
    expect(inside[0].call).toEqual({ tenant: stack.tenant, project: stack.project, invocation: 'inv_1' })

    const suspend = 'UPDATE control.memberships SET suspended_at = now() WHERE user_id = $1'
    await stack.fixture.run(suspend, [stack.owner.id])
    expect((await failuresSeenBy(await signIn({ id: stack.owner.id })))[0].call).toBeNull()
  })

  test('shows the processes that still report, and a provider that only a product names', async ({
    fixture,
    operator,
    seen,
  }) => {
    await seen.process('one', 5, { circuit: 'open' })
    await seen.process('two', 5, { credential: 'none' })
    await seen.process('gone', 120)
    const unknown = `${seen.name}-unknown`
    const product = await fixture.publishProduct({ providers: [{ provider: unknown, model: 'm-2', priority: 1 }] })
    const { body } = await operator.get(PROVIDERS)
    const of = (name: string) => body.data.find(({ provider }: { provider: string }) => provider === name)
    expect(of(seen.name)).toMatchObject({
      kind: 'anthropic',
      calls: 0,
      p50Ms: null,
      processes: [
        { service: 'gateway', credential: 'environment', circuit: 'open' },
        { service: 'gateway', credential: 'none', circuit: 'closed' },
      ],
    })
    expect(of(unknown)).toMatchObject({
      kind: null,
      processes: [],
      deployments: [{ model: 'm-2', product, isRouted: true, calls: 0 }],
    })
  })

  test('is refused to other users, and to a token without the scope operator [not_permitted]', async ({ stack }) => {
    expect(outcomeOf(await stack.owner.get(PROVIDERS))).toBe('403 not_permitted')
  })
})

describe(`POST ${PROVIDERS}/tests`, () => {
  const testOf = async (operator: Caller, provider: string, id: string) => {
    const { body } = await operator.get(PROVIDERS)
    const found = body.data.find((each: { provider: string }) => each.provider === provider)
    return found.tests.find((each: { id: string }) => each.id === id)
  }

  test('has a process make a minimal call, and shows how it ended, charged to no wallet', async ({
    fixture,
    operator,
    services,
  }) => {
    const made = async (kind: 'chat' | 'embedding') => {
      const product = await fixture.publishProduct({ kind, ...(kind === 'embedding' && { completionPico: 0n }) })
      const { status, body } = await operator.post(`${PROVIDERS}/tests`, { provider: 'simulated', product })
      expect([status, body]).toMatchObject([201, { state: 'waiting', product, model: 'sim', latencyMs: null }])
      await expect
        .poll(() => testOf(operator, 'simulated', body.id), { timeout: 20_000 })
        .toMatchObject({ state: 'succeeded', latencyMs: expect.any(Number), failure: null })
      return { id: body.id as string, product }
    }
    const [{ id, product: chat }, { product: embedding }] = [await made('chat'), await made('embedding')]
    const attempts = await fixture.run('SELECT FROM money.attempts WHERE product = ANY ($1)', [[chat, embedding]])
    expect(attempts.rowCount).toBe(0)
    const { rows } = await fixture.run(
      `SELECT details ->> 'model' AS model FROM control.audit WHERE action = 'provider.test' AND subject = 'simulated'`,
    )
    expect(rows).toEqual([{ model: 'sim' }, { model: 'sim' }])
    expect((await testOf(operator, 'simulated', id)).service).toMatch(/gateway|worker/)

    await services.provider.control.setFaults([{ status: 401 }])
    const product = await fixture.publishProduct({})
    const { body } = await operator.post(`${PROVIDERS}/tests`, { provider: 'simulated', product })
    await expect
      .poll(() => testOf(operator, 'simulated', body.id), { timeout: 20_000 })
      .toMatchObject({ state: 'failed', failure: { kind: 'refused', status: 401 } })
    await services.provider.control.clearFaults()
  })

  test('expires if no process has the provider, and is limited to ten a minute, also of those asked for at once [rate_limited]', async ({
    fixture,
    operator,
    seen,
  }) => {
    const product = await fixture.publishProduct({ providers: [{ provider: seen.name, model: 'm-2', priority: 1 }] })
    const ask = () => operator.post(`${PROVIDERS}/tests`, { provider: seen.name, product })
    const { body } = await ask()
    const age = (what: string, seconds: number) =>
      fixture.run(
        `UPDATE control.provider_tests SET ${what} requested_at = now() - $2::int * interval '1 second' WHERE id = $1`,
        [body.id, seconds],
      )
    const stateAfter = async (what: string, seconds: number) => {
      await age(what, seconds)
      return (await testOf(operator, seen.name, body.id)).state
    }
    expect([
      await stateAfter('', 30),
      await stateAfter('', 61),
      await stateAfter("sender = 'gone',", 61),
      await stateAfter('', 121),
    ]).toEqual(['waiting', 'expired', 'running', 'expired'])
    await fixture.run('DELETE FROM control.provider_tests')
    const answers = await Promise.all(Array.from({ length: 30 }, ask))
    const counts = Map.groupBy(answers, outcomeOf)
    expect(
      [...counts].map(([outcome, { length }]) => `${length} × ${outcome}`).toSorted((x, y) => x.localeCompare(y)),
    ).toEqual(['10 × 201', '20 × 429 rate_limited'])
  })

  test('is refused for what a provider does not serve, and to other users [not_found] [invalid_request] [not_permitted]', async ({
    fixture,
    operator,
    stack,
  }) => {
    const [chat, image] = [await fixture.publishProduct({}), await fixture.publishProduct({ kind: 'image' })]
    const outcomeFor = async (caller: Caller, provider: string, product: string) =>
      outcomeOf(await caller.post(`${PROVIDERS}/tests`, { provider, product }))
    expect(await outcomeFor(operator, 'other', chat)).toBe('404 not_found')
    expect(await outcomeFor(operator, 'simulated', 'acme/none')).toBe('404 not_found')
    expect(await outcomeFor(operator, 'simulated', image)).toBe('400 invalid_request')
    expect(await outcomeFor(stack.owner, 'simulated', chat)).toBe('403 not_permitted')
  })
})
