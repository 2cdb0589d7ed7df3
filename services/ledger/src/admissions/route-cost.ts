import type { ProductPricing } from '@gateway/api/console/products'
import type { Route } from '@gateway/ledger-protocol/ledger-outcomes'
import { picoFromUsd } from '@gateway/pricing/price'
import type { PriceSnapshot } from '@gateway/pricing/usage'

/**
 * What a provider charges, as stored with the product, for the route of a call. Text that is not a price leaves it
 * unknown: it must not stop a call.
 */
export function routeCost(cost: ProductPricing | undefined): Pick<Route, 'cost'> {
  if (cost === undefined) return {}
  const parts =
    cost.unit === 'request'
      ? ['0', '0', cost.request, undefined, undefined, undefined]
      : [cost.prompt, cost.completion, '0', cost.cachedPrompt, cost.reasoning, cost.cacheWrite]
  const pico = parts.map((usd) => (usd === undefined ? null : picoFromUsd(usd)?.toString()))
  return pico.includes(undefined) ? {} : { cost: pico as PriceSnapshot }
}
