import type { ProductRecord, ProductPricing } from '@gateway/api/console/products'
import type { CatalogueView, Order } from './catalogue-view.ts'
import { picoFromUsd, type Price } from '@gateway/pricing/price'

/** A product and whether the project can call it. */
export interface CatalogueRow {
  product: ProductRecord
  isAssigned: boolean
}

/** Published products that match the view, in its sort order. */
export function catalogueRows(
  products: readonly ProductRecord[],
  assigned: ReadonlySet<string>,
  { q = '', kind, use, sort = 'name' }: CatalogueView,
): CatalogueRow[] {
  const words = q.toLowerCase().split(/\s+/)
  return products
    .filter(({ state }) => state === 'published')
    .map((product) => ({ product, isAssigned: assigned.has(product.id) }))
    .filter(({ product, isAssigned }) => {
      const { id, name, description, ownedBy } = product
      const text = `${id} ${name} ${description} ${ownedBy}`.toLowerCase()
      return (
        words.every((word) => text.includes(word)) &&
        (kind === undefined || product.kind === kind) &&
        (use === undefined || isAssigned === (use === 'callable'))
      )
    })
    .toSorted((one, other) => orders[sort](one.product, other.product) || orders.name(one.product, other.product))
}

const orders: Record<Order, (one: ProductRecord, other: ProductRecord) => number> = {
  name: (one, other) => one.name.localeCompare(other.name) || one.id.localeCompare(other.id),
  cheapest: (one, other) => byPrice(one, other),
  priciest: (one, other) => byPrice(other, one),
  context: (one, other) => other.contextLength - one.contextLength,
}

/** Compares the sum of the input and output token prices. Products priced per call come last, by that price. */
function byPrice({ pricing: one }: ProductRecord, { pricing: other }: ProductRecord): number {
  if (one.unit !== other.unit) return one.unit === 'tokens' ? -1 : 1
  const [a, b] = [priceOf(one), priceOf(other)]
  const difference = a.promptPico + a.completionPico + a.requestPico - b.promptPico - b.completionPico - b.requestPico
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

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
