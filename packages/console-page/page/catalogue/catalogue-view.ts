import type { ProductKind } from '@gateway/api/console/products'

export const kinds: readonly ProductKind[] = ['chat', 'image', 'audio']
/** Whether the project can call it now, or could ask for it. */
export const uses = ['callable', 'askable'] as const
export type Use = (typeof uses)[number]
export const orders = ['name', 'cheapest', 'priciest', 'context'] as const
export type Order = (typeof orders)[number]

/** More alongside each other can't be read. */
export const MOST_COMPARED = 4

/** What the catalogue shows, as the address has it; left out: everything, by name. */
export interface CatalogueView {
  q?: string
  kind?: ProductKind
  use?: Use
  sort?: Order
  /** Ids of those alongside each other. */
  compare?: string[]
  /** The id of the one whose cost is estimated. */
  estimate?: string
}

/** Keeps the known search parameters of an address and drops the rest. */
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
