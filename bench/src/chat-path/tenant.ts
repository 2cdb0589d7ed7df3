import type { CallableTenant } from '@gateway/testbed/fixture'
import { PLENTY, withFixture } from '../stack/with-fixture.ts'

export type PricedTenant = CallableTenant & { promptPico: bigint; completionPico: bigint }

/** A tenant whose key has a monthly limit, so that every call checks its window. */
export async function buildTenant(adminUrl: string): Promise<PricedTenant> {
  const prices = { promptPico: 150_000n, completionPico: 600_000n }
  const tenant = await withFixture(adminUrl, (fixture) =>
    fixture.callableTenant({
      funds: PLENTY,
      product: { id: 'bench/model', ...prices },
      key: { limit: { micro: PLENTY, reset: 'monthly' } },
    }),
  )
  return { ...tenant, ...prices }
}
