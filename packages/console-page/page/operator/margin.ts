import { picoFromUsd } from '@gateway/pricing/price'
import type { ProductPricing } from '@gateway/api/console/products'
import { rateText } from './revenue-months.ts'

export interface Margin {
  /** What is sold: a part of the tokens, or a call. */
  what: string
  /** Share of the price that remains, negative below cost; null without a price. */
  share: number | null
}

/**
 * Margin per token or per call. Empty if the two are billed by different units, which only real usage can compare. Parts
 * without a price or a cost are charged and billed as those they belong to.
 */
export function marginsOf(pricing: ProductPricing, cost: ProductPricing): Margin[] {
  if (pricing.unit === 'request')
    return cost.unit === 'request' ? [{ what: 'Margin', share: shareOf(pricing.request, cost.request) }] : []
  if (cost.unit === 'request') return []
  const parts = [
    ['Input margin', (of: typeof pricing) => of.prompt, true],
    ['Cached input margin', (of: typeof pricing) => of.cachedPrompt ?? of.prompt, 'cachedPrompt'],
    ['Cache write margin', (of: typeof pricing) => of.cacheWrite ?? of.prompt, 'cacheWrite'],
    ['Output margin', (of: typeof pricing) => of.completion, true],
    ['Reasoning margin', (of: typeof pricing) => of.reasoning ?? of.completion, 'reasoning'],
  ] as const
  return parts
    .filter(([, , part]) => part === true || pricing[part] !== undefined || cost[part] !== undefined)
    .map(([what, read]) => ({ what, share: shareOf(read(pricing), read(cost)) }))
    .filter(({ share, what }) => share !== null || what === 'Input margin')
}

function shareOf(price: string, cost: string): number | null {
  const [sold, paid] = [picoFromUsd(price) ?? 0n, picoFromUsd(cost) ?? 0n]
  if (sold === 0n) return paid === 0n ? null : -Infinity
  return Number(sold - paid) / Number(sold)
}

/** "Input margin 20%", or how a price of nothing compares. */
export function marginText({ what, share }: Margin): string {
  if (share === null) return `${what} –`
  return Number.isFinite(share) ? `${what} ${rateText(share)}` : `${what}: free for callers`
}
