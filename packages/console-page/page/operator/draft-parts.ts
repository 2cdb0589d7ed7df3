import type { ParameterValues, ProductKind, ProductPricing } from '@gateway/api/console/products'
import { mediaParameters } from '@gateway/api/console/fields'
import type { ProductDraft } from './typed-product.ts'
import { usdOfCall, usdOfMillion } from './usd-per-million.ts'

/** Names of the parameters that nodes of a kind can set. */
export function valueNames(kind: ProductKind): readonly (keyof ProductDraft['values'])[] {
  return kind === 'chat' || kind === 'embedding' ? [] : mediaParameters[kind]
}

/** Prices of a draft, or null if one is missing or invalid. */
export function pricingOf(draft: Pick<ProductDraft, PriceField | 'unit'>): ProductPricing | null {
  if (draft.unit === 'request') {
    const request = usdOfCall(draft.request)
    return request === null ? null : { unit: 'request', request }
  }
  const [prompt, completion] = [usdOfMillion(draft.prompt), usdOfMillion(draft.completion)]
  const [cachedPrompt, cacheWrite] = [orNone(draft.cachedPrompt), orNone(draft.cacheWrite)]
  const reasoning = orNone(draft.reasoning)
  if (prompt === null || completion === null) return null
  if (cachedPrompt === null || cacheWrite === null || reasoning === null) return null
  return {
    unit: 'tokens',
    prompt,
    completion,
    ...(cachedPrompt !== undefined && { cachedPrompt }),
    ...(cacheWrite !== undefined && { cacheWrite }),
    ...(reasoning !== undefined && { reasoning }),
  }
}

export type PriceField = 'prompt' | 'completion' | 'cachedPrompt' | 'cacheWrite' | 'reasoning' | 'request'

/** Splits a comma-separated list; empty items are dropped. */
export function wordsOf(text: string): string[] {
  return text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')
}

export function valuesOf({ kind, values }: Pick<ProductDraft, 'kind' | 'values'>): ParameterValues {
  const listed = valueNames(kind).map((name) => [name, wordsOf(values[name])] as const)
  return Object.fromEntries(listed.filter(([, words]) => words.length > 0))
}

function orNone(text: string): string | null | undefined {
  return text.trim() === '' ? undefined : usdOfMillion(text)
}
