import type { ProductPricing } from '@gateway/api/console/products'
import { picoFromUsd, usdFromPico, type Pico, type Price } from '@gateway/pricing/price'
import { invalidField } from '../request/check.ts'

/** A price as it is stored: integers of pico-USD. */
export interface PriceColumns extends Price {
  unit: string
}

// What the columns take; `tokens × price` of one call stays inside a bigint.
const MAX_PER_TOKEN = 100_000_000_000n // 0.1 USD
const MAX_PER_REQUEST = 1_000_000_000_000_000_000n // 1,000,000 USD

/**
 * Decimal strings of USD as stored prices, exactly.
 * @throws Refusal `invalid_request` for a price beyond what one call may cost
 */
export function columnsOfPricing(pricing: ProductPricing): PriceColumns & { unit: ProductPricing['unit'] } {
  if (pricing.unit === 'request') {
    const requestPico = picoOf('request', pricing.request, MAX_PER_REQUEST)
    return { unit: 'request', promptPico: 0n, completionPico: 0n, requestPico, cachedPico: null, reasoningPico: null }
  }
  const promptPico = picoOf('prompt', pricing.prompt, MAX_PER_TOKEN)
  const completionPico = picoOf('completion', pricing.completion, MAX_PER_TOKEN)
  return {
    unit: 'tokens',
    promptPico,
    completionPico,
    requestPico: 0n,
    cachedPico: pricing.cachedPrompt === undefined ? null : picoOf('cachedPrompt', pricing.cachedPrompt, promptPico),
    reasoningPico: pricing.reasoning === undefined ? null : picoOf('reasoning', pricing.reasoning, completionPico),
  }
}

function picoOf(field: string, usd: string, max: Pico): Pico {
  const pico = picoFromUsd(usd)
  if (pico !== null && pico <= max) return pico
  const rule = `must be a decimal string of USD, at most ${usdFromPico(max)} and with at most 12 places.`
  throw invalidField(`pricing.${field}`, rule)
}
