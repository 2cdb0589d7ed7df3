import fc from 'fast-check'
import { expect, inject } from 'vitest'
import { chargeOfUsage, type PriceSnapshot } from '@gateway/pricing/usage'
import { test } from '../fixtures/ledger-test.ts'

// A gateway reports the cost of a call before the ledger has charged it, so both must compute the same amount.

const tokens = fc.oneof(fc.integer({ min: 0, max: 5_000 }), fc.integer({ min: 0, max: 10_000_000 }))
const parts = fc.record({
  cachedTokens: fc.option(tokens),
  cacheWriteTokens: fc.option(tokens),
  reasoningTokens: fc.option(tokens),
})
const share = fc.option(fc.bigInt({ min: 0n, max: 1_000n }))
const price = fc
  .record({
    prompt: fc.bigInt({ min: 0n, max: 10n ** 11n }),
    completion: fc.bigInt({ min: 0n, max: 10n ** 11n }),
    request: fc.oneof(fc.constant(0n), fc.bigInt({ min: 0n, max: 10n ** 18n })),
    cached: share,
    reasoning: share,
    cacheWrite: fc.option(fc.bigInt({ min: 1_000n, max: 2_000n })),
  })
  .map(({ prompt, completion, request, cached, reasoning, cacheWrite }): PriceSnapshot => [
    `${prompt}`,
    `${completion}`,
    `${request}`,
    cached === null ? null : `${(prompt * cached) / 1_000n}`,
    reasoning === null ? null : `${(completion * reasoning) / 1_000n}`,
    cacheWrite === null ? null : `${(prompt * cacheWrite) / 1_000n}`,
  ])
const reserved = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 10_000 }), fc.integer({ min: 0, max: 10 ** 13 }))

test('the gateway computes the same charge as Postgres for any usage at any price', async ({ fixture }) => {
  const some = fc.sample(fc.tuple(price, tokens, tokens, parts, reserved), Math.ceil(5_000 * inject('propertyShare')))
  const { rows } = await fixture.run(
    `SELECT least(money.charge_micro((c->1)::bigint, (c->0->>0)::bigint, (c->3->>'cachedTokens')::bigint, (c->0->>3)::bigint,
                                 (c->3->>'cacheWriteTokens')::bigint, (c->0->>5)::bigint,
                                 (c->2)::bigint, (c->0->>1)::bigint, (c->3->>'reasoningTokens')::bigint, (c->0->>4)::bigint,
                                 (c->0->>2)::bigint), (c->4)::bigint)::text AS charge
       FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY t (c, n) ORDER BY n`,
    [JSON.stringify(some)],
  )
  const computed = some.map(([snapshot, promptTokens, completionTokens, reported, cap]) => {
    const { cachedTokens, cacheWriteTokens, reasoningTokens } = reported
    const counted = {
      promptTokens,
      completionTokens,
      ...(cachedTokens !== null && { cachedTokens }),
      ...(cacheWriteTokens !== null && { cacheWriteTokens }),
      ...(reasoningTokens !== null && { reasoningTokens }),
    }
    return String(chargeOfUsage(snapshot, counted, cap))
  })
  expect(rows.map(({ charge }) => charge)).toEqual(computed)
})

test('a settlement charges the price returned at admission, even if the product’s price has changed since', async ({
  fixture,
  replica,
  tenant,
}) => {
  const product = await fixture.product({ promptPico: 1_500_000n, completionPico: 3_700_000n })
  await fixture.assign(tenant.project.id, product)
  const setPrice = (cached: number | null, reasoning: number | null, written: number | null) =>
    fixture.run(
      'UPDATE control.products SET cached_pico = $2, reasoning_pico = $3, cache_write_pico = $4 WHERE id = $1',
      [product, cached, reasoning, written],
    )
  for (const usage of fc.sample(fc.record({ prompt: tokens, completion: tokens, parts }), 60)) {
    await setPrice(
      usage.prompt % 2 ? 150_000 : null,
      usage.completion % 2 ? 900_001 : null,
      usage.prompt % 3 ? 1_875_001 : null,
    )
    const item = replica.item(tenant.key, product)
    const outcome = await replica.admit(item)
    if (outcome.kind !== 'admitted') throw new Error(outcome.kind)
    await setPrice(1, 1, 1_500_001)
    expect(await replica.admit(item)).toMatchObject({ ...outcome, receipt: expect.any(String) }) // the reservation keeps its price
    const { cachedTokens, cacheWriteTokens, reasoningTokens } = usage.parts
    const counted = {
      promptTokens: usage.prompt,
      completionTokens: usage.completion,
      ...(cachedTokens !== null && { cachedTokens: Math.min(cachedTokens, usage.prompt) }),
      ...(cacheWriteTokens !== null && { cacheWriteTokens }),
      ...(reasoningTokens !== null && { reasoningTokens: Math.min(reasoningTokens, usage.completion) }),
    }
    const chargedMicro = chargeOfUsage(outcome.price!, counted, outcome.reservedMicro)
    expect(await replica.settle(item.id, counted)).toEqual({ kind: 'settled', chargedMicro })
  }
})
