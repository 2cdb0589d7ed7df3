import { describe, expect } from 'vitest'
import { codeOf, countCodes } from '../fixtures/replica.ts'
import { findingsOf, test, walletOf } from '../fixtures/ledger-test.ts'

// The rules of the money core (architecture §4), each tested by what would break without it.

describe('concurrent admissions', () => {
  test('admit exactly 10 of 200 calls if the wallet covers 10, on two replicas', async ({
    fixture,
    replica,
    other,
    tenant,
  }) => {
    const project = await fixture.project(tenant.owners, 1_050n)
    await fixture.assign(project.id, tenant.product)
    const key = await fixture.key({ project, by: tenant.owners.owner })
    const outcomes = await Promise.all(
      Array.from({ length: 200 }, (_, n) => (n % 2 ? replica : other)).map((one) =>
        one.admit(one.item(key, tenant.product)),
      ),
    )
    expect(countCodes(outcomes)).toEqual({ admitted: 10, insufficient_budget: 190 })
    expect(await walletOf(replica, project.id)).toEqual({ funded: 1_050n, reserved: 1_000n, settled: 0n })
    expect(await findingsOf(replica, project.id)).toEqual([])
  })

  // spec: 5/s8, can/spending-limits
  test('never exceed the limit of a key, on two replicas [key_limit]', async ({ fixture, replica, other, tenant }) => {
    const key = await fixture.key({
      project: tenant.project,
      by: tenant.owners.owner,
      limit: { micro: 777n, reset: 'daily' },
    })
    const outcomes = await Promise.all(
      Array.from({ length: 200 }, (_, n) => (n % 2 ? replica : other)).map((one) =>
        one.admit(one.item(key, tenant.product)),
      ),
    )
    expect(countCodes(outcomes)).toEqual({ admitted: 7, key_limit: 193 })
    const refused = outcomes.find((outcome) => outcome.kind === 'refused')
    expect(refused).toMatchObject({
      facts: { limitMicro: 777, spentMicro: 0, reservedMicro: 700, neededMicro: 100, reset: 'daily' },
    })
    expect(await findingsOf(replica, tenant.project.id)).toEqual([])
  })

  test('reserve nothing for a refused call, so that a smaller call behind it fits', async ({
    fixture,
    replica,
    tenant,
  }) => {
    const project = await fixture.project(tenant.owners, 150n)
    await fixture.assign(project.id, tenant.product)
    const key = await fixture.key({ project, by: tenant.owners.owner })
    const sizes = [100, 100, 50, 1]
    const outcomes = await Promise.all(
      sizes.map((maxTokens) => replica.admit(replica.item(key, tenant.product, { maxTokens }))),
    )
    expect(outcomes.map(codeOf)).toEqual(['admitted', 'insufficient_budget', 'admitted', 'insufficient_budget'])
    expect(outcomes[1]).toMatchObject({
      facts: { availableMicro: 50, reservedMicro: 100, neededMicro: 100, affordableMaxTokens: 50 },
    })
  })
})

describe('a call', () => {
  // spec: 1/s9
  test('is charged for its usage once, and the rest of its reservation is released', async ({ replica, tenant }) => {
    const item = replica.item(tenant.key, tenant.product)
    await replica.admit(item)
    const [first, second] = await Promise.all([
      replica.settle(item.id, { promptTokens: 5, completionTokens: 42 }),
      replica.settle(item.id),
    ])
    expect([first, second]).toEqual([
      { kind: 'settled', chargedMicro: 42 },
      { kind: 'settled', chargedMicro: 42 },
    ])
    expect(await replica.release(item.id)).toEqual({ kind: 'settled', chargedMicro: 42 })
    expect(await walletOf(replica, tenant.project.id)).toEqual({ funded: 1_000_000n, reserved: 0n, settled: 42n })
  })

  test('is charged at most its reservation; the excess is written off', async ({ fixture, replica, tenant }) => {
    const item = replica.item(tenant.key, tenant.product)
    await replica.admit(item)
    expect(await replica.settle(item.id, { promptTokens: 0, completionTokens: 5_000 })).toEqual({
      kind: 'settled',
      chargedMicro: 100,
    })
    const losses = await fixture.run('SELECT kind, micro FROM money.write_offs WHERE reservation = $1', [item.id])
    expect(losses.rows).toEqual([{ kind: 'excess', micro: '4900' }])
  })

  test('that used more than its bound is reported with its product and the provider that responded', async ({
    replica,
    tenant,
  }) => {
    const item = replica.item(tenant.key, tenant.product)
    await replica.admit(item)
    const at = { startMs: 0, endMs: 1 }
    const tries = [
      { ...at, provider: 'first', outcome: 'unreachable' as const },
      { ...at, provider: 'second', outcome: 'answered' as const },
    ]
    const usage = { promptTokens: 0, completionTokens: 5_000, estimated: false }
    const settlement = {
      op: 'settle' as const,
      id: item.id,
      usage,
      answer: null,
      timing: { firstTokenMs: null, tries },
    }
    await replica.admissionBatcher.submit(settlement, 10_000)
    const call = { product: tenant.product, project: tenant.project.id, execution: null, node: null }
    const excess = { reservation: item.id, micro: 4_900, provider: 'second', ...call }
    await expect.poll(() => replica.excesses).toContainEqual(excess)
  })

  test('is charged nothing if it was released before its settlement; the usage is written off', async ({
    fixture,
    replica,
    tenant,
  }) => {
    const item = replica.item(tenant.key, tenant.product)
    await replica.admit(item)
    await replica.release(item.id)
    expect(await replica.settle(item.id, { promptTokens: 0, completionTokens: 60 })).toEqual({ kind: 'fenced' })
    const losses = await fixture.run('SELECT kind, micro FROM money.write_offs WHERE reservation = $1', [item.id])
    expect(losses.rows).toEqual([{ kind: 'fenced', micro: '60' }])
    expect((await walletOf(replica, tenant.project.id)).settled).toBe(0n)
  })

  test('is charged for cached and reasoning tokens at the product’s prices for them at admission', async ({
    fixture,
    replica,
    tenant,
  }) => {
    const price = { promptPico: 2_000_000n, completionPico: 8_000_000n }
    const product = await fixture.product({ ...price, cachedPico: 200_000n, reasoningPico: 5_000_000n })
    await fixture.assign(tenant.project.id, product)
    const item = replica.item(tenant.key, product)
    await replica.admit(item)
    await fixture.run('UPDATE control.products SET cached_pico = NULL, reasoning_pico = NULL WHERE id = $1', [product])
    const usage = { promptTokens: 30, completionTokens: 10, cachedTokens: 20, reasoningTokens: 4 }
    // 10 × 2 + 20 × 0.2 of the prompt, and 6 × 8 + 4 × 5 of the completion.
    expect(await replica.settle(item.id, usage)).toEqual({ kind: 'settled', chargedMicro: 92 })
    const { rows } = await fixture.run(
      'SELECT cached_tokens, reasoning_tokens, cached_pico::int, reasoning_pico::int FROM money.attempts WHERE id = $1',
      [item.id],
    )
    expect(rows).toEqual([{ cached_tokens: 20, reasoning_tokens: 4, cached_pico: 200_000, reasoning_pico: 5_000_000 }])
    expect(await findingsOf(replica, tenant.project.id)).toEqual([])
  })

  test('reserves the price of a cache write for the whole prompt, and is charged for what was written', async ({
    fixture,
    replica,
    tenant,
  }) => {
    const price = { promptPico: 2_000_000n, completionPico: 0n }
    const plain = await fixture.product(price)
    const product = await fixture.product({ ...price, cachedPico: 200_000n, cacheWritePico: 4_000_000n })
    for (const each of [plain, product]) await fixture.assign(tenant.project.id, each)
    const reservedFor = async (model: string) => {
      const item = replica.item(tenant.key, model)
      const outcome = await replica.admit(item)
      if (outcome.kind !== 'admitted') throw new Error(outcome.kind)
      return { id: item.id, micro: outcome.reservedMicro }
    }
    const { micro } = await reservedFor(plain)
    const reserved = await reservedFor(product)
    expect(reserved.micro).toBe(2 * micro)
    await fixture.run('UPDATE control.products SET cache_write_pico = NULL WHERE id = $1', [product])
    const usage = { promptTokens: 30, completionTokens: 0, cachedTokens: 20, cacheWriteTokens: 7 }
    // 20 × 0.2 read, 7 × 4 written and 3 × 2 of the rest.
    expect(await replica.settle(reserved.id, usage)).toEqual({ kind: 'settled', chargedMicro: 38 })
    const { rows } = await fixture.run(
      'SELECT cache_write_tokens, cache_write_pico::int FROM money.attempts WHERE id = $1',
      [reserved.id],
    )
    expect(rows).toEqual([{ cache_write_tokens: 7, cache_write_pico: 4_000_000 }])
    expect(await findingsOf(replica, tenant.project.id)).toEqual([])
    await expect(
      fixture.run('UPDATE control.products SET cache_write_pico = 1999999 WHERE id = $1', [product]),
    ).rejects.toThrow('cache_writes_are_no_cheaper')
  })

  test('never costs more because of cached or reasoning tokens: they are capped at the total, and so is their price', async ({
    fixture,
    replica,
    tenant,
  }) => {
    const price = { promptPico: 1_000_000n, completionPico: 1_000_000n }
    const product = await fixture.product({ ...price, cachedPico: 0n, reasoningPico: 0n })
    await fixture.assign(tenant.project.id, product)
    const item = replica.item(tenant.key, product)
    await replica.admit(item)
    const usage = { promptTokens: 5, completionTokens: 7, cachedTokens: 50, reasoningTokens: 70 }
    expect(await replica.settle(item.id, usage)).toEqual({ kind: 'settled', chargedMicro: 0 })
    for (const dearer of ['cached_pico', 'reasoning_pico'])
      await expect(
        fixture.run(`UPDATE control.products SET ${dearer} = 1000001 WHERE id = $1`, [product]),
      ).rejects.toThrow('is_no_dearer')
  })

  test('released before its admission leaves a tombstone that refuses the admission', async ({ replica, tenant }) => {
    const item = replica.item(tenant.key, tenant.product)
    expect(await replica.release(item.id)).toEqual({ kind: 'released' })
    expect(codeOf(await replica.admit(item))).toBe('unavailable')
    expect((await walletOf(replica, tenant.project.id)).reserved).toBe(0n)
  })

  test('returns the same admission when repeated under its id', async ({ replica, other, tenant }) => {
    const item = replica.item(tenant.key, tenant.product)
    const first = await replica.admit(item)
    expect(await other.admit(item)).toEqual({ ...first, receipt: expect.any(String) })
    expect((await walletOf(replica, tenant.project.id)).reserved).toBe(100n)
  })

  test('expires once its instance has ended, and not before', async ({ fixture, replica, tenant }) => {
    const item = replica.item(tenant.key, tenant.product, { instance: 'ins_short' })
    await fixture.run(
      `INSERT INTO money.instances (id, service, started_at, heartbeat_at, dead_after_ms) VALUES ('ins_short', 'gateway', now(), now(), 15000)`,
    )
    await replica.admit(item)
    expect(await replica.expire(item.id)).toEqual({ kind: 'alive' })
    await fixture.run(`UPDATE money.instances SET ended_at = now() WHERE id = 'ins_short'`)
    expect(await replica.expire(item.id)).toEqual({ kind: 'released' })
    expect((await replica.admit(replica.item(tenant.key, tenant.product, { instance: 'ins_short' }))).kind).toBe(
      'instance-unknown',
    )
    expect((await walletOf(replica, tenant.project.id)).reserved).toBe(0n)
  })
})
