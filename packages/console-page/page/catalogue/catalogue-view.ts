import type { ProductKind } from '@gateway/api/console/products'

export const kinds: readonly ProductKind[] = ['chat', 'embedding', 'image', 'audio']
/** Whether the project can call a product, or only request it. */
export const uses = ['callable', 'askable'] as const
export type Use = (typeof uses)[number]
export const orders = ['name', 'cheapest', 'priciest', 'context'] as const
export type Order = (typeof orders)[number]

/** More columns would be unreadable. */
export const MOST_COMPARED = 4

/** Catalogue view in the URL; all products by name if omitted. */
export interface CatalogueView {
  q?: string
  kind?: ProductKind
  use?: Use
  sort?: Order
  /** IDs of the compared products. */
  compare?: string[]
  /** ID of the product in the cost estimate. */
  estimate?: string
}

/** Keeps the valid search parameters of the URL and drops the rest. */
export function catalogueView({ q, compare, estimate, ...search }: Record<string, unknown>): CatalogueView {
  const kind = kinds.find((each) => each === search['kind'])
  const use = uses.find((each) => each === search['use'])
  const sort = orders.find((each) => each === search['sort'])
  const compared = Array.isArray(compare) ? compare.filter((id) => typeof id === 'string').slice(0, MOST_COMPARED) : []
  return {
    ...(typeof q === 'string' && q !== '' && { q }),
    ...(kind && { kind }),
    ...(use && { use }),
    ...(sort && { sort }),
    ...(compared.length > 0 && { compare: compared }),
    ...(typeof estimate === 'string' && { estimate }),
  }
}
