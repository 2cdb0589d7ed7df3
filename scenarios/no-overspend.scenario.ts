import { describe, expect } from 'vitest'
import { chat, type Stack, type TenantFixture } from './src/stack.ts'
import { stackTest as test } from './src/stack-test.ts'

// 200 concurrent callers through two gateways and two ledgers. The provider is held so that nothing settles in between.

const CALLERS = 200
const FIT = 12

/** Max cost of one of the calls below as the gateway computes it, read from a refusal. */
async function boundOf(stack: Stack, tenant: TenantFixture): Promise<bigint> {
  const poor = await stack.tenant(0n)
  await stack.fixture.assign(poor.project.id, tenant.model)
  const refused = await chat(stack, { key: poor.key, model: tenant.model })
  const { error } = (await refused.json()) as { error: { code: string; details: { neededMicro: number } } }
  expect(error.code).toBe('insufficient_budget')
  return BigInt(error.details.neededMicro)
}

async function callAtOnce(stack: Stack, tenant: TenantFixture, headers = {}): Promise<Record<number, number>> {
  await stack.provider.control.setFaults([{ model: 'sim', hold: true }])
  await stack.provider.control.clearCalls()
  const answers = Array.from({ length: CALLERS }, (_, n) => chat(stack, tenant, { gateway: n, headers }))
  let answered = 0
  for (const answer of answers) void answer.then(() => answered++)
  // Refused calls are answered while admitted ones still wait; only then is the provider released.
  await expect.poll(() => answered).toBe(CALLERS - FIT)
  await stack.provider.control.waitForCalls(FIT)
  expect(await stack.provider.control.countCalls()).toBe(FIT)
  const held = await stack.wallet(tenant.project.id)
  expect(held.settled).toBe(0n)
  expect(held.available).toBeGreaterThanOrEqual(0n)
  await stack.provider.control.clearFaults()
  await stack.provider.control.release()
  const counts: Record<number, number> = {}
  for (const answer of await Promise.all(answers)) counts[answer.status] = (counts[answer.status] ?? 0) + 1
  return counts
}

describe('no overspend', () => {
  // spec: 1/s10, 7/s4
  test(`a wallet that covers ${FIT} calls admits exactly ${FIT} of ${CALLERS} [insufficient_budget]`, async ({
    stack,
  }) => {
    const tenant = await stack.tenant(0n)
    const bound = await boundOf(stack, tenant)
    await stack.fixture.fund(tenant.project.id, bound * BigInt(FIT) + bound / 2n)
    expect(await callAtOnce(stack, tenant)).toEqual({ 200: FIT, 402: CALLERS - FIT })
    const wallet = await stack.wallet(tenant.project.id)
    expect(wallet.reserved).toBe(0n)
    expect(wallet.funded).toBe(wallet.available + wallet.settled)
    const calls = await stack.invocations(tenant.project.id)
    expect(calls).toHaveLength(FIT)
    expect(calls.reduce((sum, { chargedMicro }) => sum + chargedMicro, 0n)).toBe(wallet.settled)
    expect(await stack.findings([tenant.project.id])).toEqual([])
  })

  test(`a hard budget of a tag that covers ${FIT} calls admits exactly ${FIT} of ${CALLERS} [budget_reached]`, async ({
    stack,
  }) => {
    const tenant = await stack.tenant(1_000_000_000n)
    const limit = (await boundOf(stack, tenant)) * BigInt(FIT + 1) - 1n
    await stack.fixture.run(
      `INSERT INTO money.budgets (id, tenant, kind, subject, target, limit_micro, is_hard, window_start, created_by, created_at)
       VALUES ('bud_nightly', $1, 'tag', 'nightly', $1 || ' tag nightly', $2, true, to_timestamp(0), $3, now())`,
      [tenant.project.tenant, limit, tenant.owner],
    )
    const headers = { 'X-Service-Tag': 'nightly' }
    expect(await callAtOnce(stack, tenant, headers)).toEqual({ 200: FIT, 403: CALLERS - FIT })
    const { rows } = await stack.fixture.run(
      `SELECT spent = (SELECT settled FROM money.wallets WHERE project = $1) AS counted, reserved FROM money.budgets WHERE id = 'bud_nightly'`,
      [tenant.project.id],
    )
    expect(rows).toEqual([{ counted: true, reserved: '0' }])
    expect(await stack.findings([tenant.project.id])).toEqual([])
  })
})
