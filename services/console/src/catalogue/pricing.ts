import type { ProductPricing } from '@gateway/api/console/products'
import { picoFromUsd, usdFromPico, type Pico, type Price } from '@gateway/pricing/price'
import { invalidField } from '../request/check.ts'

/** Price as stored, in whole pico-USD. */
export interface PriceColumns extends Price {
  unit: string
}

// Limits of the columns: `tokens × price` of one call must fit into a bigint.
const MAX_PER_TOKEN = 100_000_000_000n // 0.1 USD
const MAX_PER_REQUEST = 1_000_000_000_000_000_000n // 1,000,000 USD

/**
 * Converts decimal USD strings to stored prices without rounding.
 * @param field with these prices, for the refusal
 * @throws Refusal `invalid_request` for a price above the maximum of one call
 */
export function columnsOfPricing(
  pricing: ProductPricing,
  field = 'pricing',
): PriceColumns & { unit: ProductPricing['unit'] } {
  const picoOf = (part: string, usd: string, max: Pico) => picoOfPart(`${field}.${part}`, usd, max)
  if (pricing.unit === 'request') {
    const requestPico = picoOf('request', pricing.request, MAX_PER_REQUEST)
    const noParts = { cachedPico: null, cacheWritePico: null, reasoningPico: null }
    return { unit: 'request', promptPico: 0n, completionPico: 0n, requestPico, ...noParts }
  }
  const promptPico = picoOf('prompt', pricing.prompt, MAX_PER_TOKEN)
  const completionPico = picoOf('completion', pricing.completion, MAX_PER_TOKEN)
  return {
    unit: 'tokens',
    promptPico,
    completionPico,
    requestPico: 0n,
    cachedPico: pricing.cachedPrompt === undefined ? null : picoOf('cachedPrompt', pricing.cachedPrompt, promptPico),
    cacheWritePico:
      pricing.cacheWrite === undefined ? null : cacheWritePicoOf(`${field}.cacheWrite`, pricing.cacheWrite, promptPico),
    reasoningPico: pricing.reasoning === undefined ? null : picoOf('reasoning', pricing.reasoning, completionPico),
  }
}

/** Never cheaper than the prompt: a reservation assumes that the whole prompt is written to a cache. */
function cacheWritePicoOf(field: string, usd: string, promptPico: Pico): Pico {
  const pico = picoOfPart(field, usd, MAX_PER_TOKEN)
  if (pico >= promptPico) return pico
  throw invalidField(field, `must be at least the price of the prompt, ${usdFromPico(promptPico)}.`)
}

function picoOfPart(field: string, usd: string, max: Pico): Pico {
  const pico = picoFromUsd(usd)
  if (pico !== null && pico <= max) return pico
  const rule = `must be a decimal string of USD, at most ${usdFromPico(max)}, with at most 12 decimal places.`
  throw invalidField(field, rule)
}
