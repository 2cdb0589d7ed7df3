import type { ProductPricing } from '@gateway/api/console/products'
import { picoFromUsd } from '@gateway/pricing/price'

const PICO_DIGITS = 12
const MILLION_DIGITS = 6

/** Short price of a product, per million tokens or per call. */
export function priceLabels(pricing: ProductPricing): string {
  if (pricing.unit === 'request') return `$${withoutZeros(pricing.request)} each`
  return `$${perMillion(pricing.prompt)} in, $${perMillion(pricing.completion)} out per 1M`
}

/** Converts a unit price to the price per million, in USD without trailing zeros. */
export function perMillion(usd: string): string {
  const digits = String(picoFromUsd(usd) ?? 0n).padStart(PICO_DIGITS + 1, '0')
  const point = digits.length - PICO_DIGITS + MILLION_DIGITS
  return withoutZeros(`${digits.slice(0, point).replace(/^0+(?=\d)/, '')}.${digits.slice(point)}`)
}

export function withoutZeros(decimal: string): string {
  return decimal.includes('.') ? decimal.replace(/\.?0+$/, '') : decimal
}
