import type { ProductPricing } from '@gateway/api/console/products'
import { picoFromUsd, type Price } from '@gateway/pricing/price'

/** Converts a published price to the form that the ledger computes with. */
export function priceOf(pricing: ProductPricing): Price {
  if (pricing.unit === 'request')
    return { promptPico: 0n, completionPico: 0n, requestPico: picoFromUsd(pricing.request) ?? 0n }
  const { prompt, completion, cachedPrompt, cacheWrite, reasoning } = pricing
  return {
    promptPico: picoFromUsd(prompt) ?? 0n,
    completionPico: picoFromUsd(completion) ?? 0n,
    requestPico: 0n,
    cachedPico: cachedPrompt === undefined ? null : picoFromUsd(cachedPrompt),
    cacheWritePico: cacheWrite === undefined ? null : picoFromUsd(cacheWrite),
    reasoningPico: reasoning === undefined ? null : picoFromUsd(reasoning),
  }
}
