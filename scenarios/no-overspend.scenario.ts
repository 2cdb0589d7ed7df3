import { describe, expect } from 'vitest'
import { chat, type House, type Shop } from './src/house.ts'
import { houseTest as test } from './src/house-test.ts'

// 200 callers at once, through two gateways and two ledgers, with the origin held so that nothing settles in between.

const CALLERS = 200
const FIT = 12

/** What one of the calls below may cost at most, as the gateway measures it: found out by a refusal, not computed here. */
async function boundOf(house: House, shop: Shop): Promise<bigint> {
  const poor = await house.shop(0n)
  await house.world.assign(poor.project.id, shop.model)
  const refused = await chat(house, { key: poor.key, model: shop.model })
  const { error } = (await refused.json()) as { error: { code: string; details: { neededMicro: number } } }
  expect(error.code).toBe('insufficient_budget')
  return BigInt(error.details.neededMicro)
}

async function callAtOnce(house: House, shop: Shop): Promise<Record<number, number>> {
  await house.origin.control.setFaults([{ model: 'sim', hold: true }])
  await house.origin.control.clearCalls()
  const answers = Array.from({ length: CALLERS }, (_, n) => chat(house, shop, { gateway: n }))
  await house.origin.control.waitForCalls(FIT)
  // The refused are answered while the admitted still wait; only then the origin may go on.
  const refused = await Promise.all(
    answers.map((answer) =>
      Promise.race([answer, house.origin.control.waitForCalls(FIT + 1, {}, 2_000).catch(() => null)]),
    ),
  )
  expect(refused.filter((answer) => answer !== null && typeof answer !== 'number')).toHaveLength(CALLERS - FIT)
  const held = await house.wallet(shop.project.id)
  expect(held.settled).toBe(0n)
  expect(held.available).toBeGreaterThanOrEqual(0n)
  await house.origin.control.clearFaults()
  await house.origin.control.release()
  const counts: Record<number, number> = {}
  for (const answer of await Promise.all(answers)) counts[answer.status] = (counts[answer.status] ?? 0) + 1
  return counts
}

describe('no overspend', () => {
  test(`${CALLERS} calls on a wallet that holds ${FIT} admit exactly ${FIT} [insufficient_budget]`, async ({
    house,
  }) => {
    const shop = await house.shop(0n)
    const bound = await boundOf(house, shop)
    await house.world.fund(shop.project.id, bound * BigInt(FIT) + bound / 2n)
    expect(await callAtOnce(house, shop)).toEqual({ 200: FIT, 402: CALLERS - FIT })
    const wallet = await house.wallet(shop.project.id)
    expect(wallet.reserved).toBe(0n)
    expect(wallet.funded).toBe(wallet.available + wallet.settled)
    const calls = await house.invocations(shop.project.id)
    expect(calls).toHaveLength(FIT)
    expect(calls.reduce((sum, { chargedMicro }) => sum + chargedMicro, 0n)).toBe(wallet.settled)
    expect(await house.findings([shop.project.id])).toEqual([])
  })

  test(`a key limit that holds ${FIT} admits exactly ${FIT} [key_limit]`, async ({ house }) => {
    const rich = await house.shop(1_000_000_000n)
    const bound = await boundOf(house, rich)
    const limit = { micro: bound * BigInt(FIT) + bound - 1n, reset: 'daily' as const }
    const shop = { ...rich, key: await house.world.key({ project: rich.project, by: rich.owner, limit }) }
    expect(await callAtOnce(house, shop)).toEqual({ 200: FIT, 403: CALLERS - FIT })
    expect(await house.findings([shop.project.id])).toEqual([])
  })
})
