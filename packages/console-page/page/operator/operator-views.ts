import type { ProductRecord } from '@gateway/api/console/products'
import type { WalletSort } from '@gateway/api/console/platform-money'
import type { ProviderRange } from '@gateway/api/console/provider-health'

type State = ProductRecord['state']
export const productStates: readonly State[] = ['draft', 'published', 'suspended']

/** State of the products screen in the URL. */
export interface ProductsView {
  q?: string
  state?: State
}

export function productsView({ q, ...search }: Record<string, unknown>): ProductsView {
  const state = productStates.find((each) => each === search['state'])
  return { ...(typeof q === 'string' && q !== '' && { q }), ...(state && { state }) }
}

/** What a new product starts from, in the URL. */
export interface NewProductView {
  /** ID of a product. */
  template?: string
}

export function newProductView({ template }: Record<string, unknown>): NewProductView {
  return typeof template === 'string' && template !== '' ? { template } : {}
}

/** Wallet shown by the money screen, from the URL. */
export interface MoneyView {
  tenant?: string
  project?: string
}

export function moneyView({ tenant, project }: Record<string, unknown>): MoneyView {
  return {
    ...(typeof tenant === 'string' && tenant !== '' && { tenant }),
    ...(typeof project === 'string' && project !== '' && { project }),
  }
}

/** Range of the screens of providers in the URL. */
export interface ProvidersView {
  range?: ProviderRange
}

const ranges: readonly ProviderRange[] = ['hour', 'day', 'week']

export function providersView({ range }: Record<string, unknown>): ProvidersView {
  const found = ranges.find((each) => each === range)
  return found === undefined ? {} : { range: found }
}

/** Search and order of the list of wallets in the URL. */
export interface WalletsView {
  q?: string
  /** Column that the list is sorted by. */
  column?: WalletSort
  order?: 'asc' | 'desc'
}

const walletSorts: readonly WalletSort[] = [
  'organization',
  'project',
  'balance',
  'available',
  'reserved',
  'spend',
  'runway',
  'alerts',
]

export function walletsView({ q, ...search }: Record<string, unknown>): WalletsView {
  const column = walletSorts.find((each) => each === search['column'])
  const order = (['asc', 'desc'] as const).find((each) => each === search['order'])
  return { ...(typeof q === 'string' && q !== '' && { q }), ...(column && { column }), ...(order && { order }) }
}

/** How many months the screen of the revenue covers. */
export interface RevenueView {
  months?: 12 | 24
}

export function revenueView({ months }: Record<string, unknown>): RevenueView {
  return months === 12 || months === 24 ? { months } : {}
}
