import type { BodyOf } from '@gateway/api/api-route'
import type { ConsoleRoutes } from '@gateway/api/console-routes'
import type {
  ProductKind,
  ProductRecord,
  ParameterValues,
  ProductPricing,
  ProductProviders,
} from '@gateway/api/console/products'
import { changedOf, changesOver } from '../components/draft.ts'
import { perMillion } from '../catalogue/product-labels.tsx'
import { productDefaults as defaults } from '@gateway/api/product-defaults'
import { mediaParameters } from '@gateway/api/console/fields'
import { usdFromPico } from '@gateway/pricing/price'

type NewProduct = BodyOf<ConsoleRoutes['createProduct']>
type ProductPatch = BodyOf<ConsoleRoutes['changeProduct']>

/** An empty form for a product of a kind. */
export function emptyDraft(kind: ProductKind): ProductDraft {
  const { input, output } = defaults.modalities[kind]
  return {
    id: '',
    kind,
    name: '',
    description: '',
    ownedBy: '',
    contextLength: '128000',
    maxOutputTokens: '8192',
    ...emptyPrices(kind),
    factor: '1',
    maxTokensPerImage: '',
    tokenizer: '',
    isModerated: false,
    supportedParameters: kind === 'embedding' ? 'dimensions' : defaults.supportedParameters.join(', '),
    input: [...input],
    output: [...output],
    maxOutputBytes: String(defaults.maxOutputBytes),
    values: { size: '', format: '', quality: '', voice: '' },
    providers: [emptyRoute(kind, [])],
  }
}

/** What changes in a form with the kind of its product. What was typed stays. */
export function withKind(draft: ProductDraft, kind: ProductKind): Partial<ProductDraft> {
  const { unit, input, output, supportedParameters } = emptyDraft(kind)
  const isUntouched = draft.supportedParameters === emptyDraft(draft.kind).supportedParameters
  return {
    kind,
    unit,
    input,
    output,
    ...(isUntouched && { supportedParameters }),
    providers: draft.providers.map((route) => ({ ...route, cost: { ...route.cost, unit } })),
  }
}

/** Empty prices of a kind, in its usual unit. */
export function emptyPrices(kind: ProductKind): PriceDraft {
  return {
    unit: kind === 'chat' || kind === 'embedding' ? 'tokens' : 'request',
    prompt: '',
    completion: '',
    cachedPrompt: '',
    cacheWrite: '',
    reasoning: '',
    request: '',
  }
}

/** A route to be filled in, tried after all others. */
export function emptyRoute(kind: ProductKind, others: readonly ProviderRoute[]): ProviderRoute {
  return {
    key: Math.max(-1, ...others.map(({ key }) => key)) + 1,
    provider: '',
    model: '',
    priority: Math.min(MAX_PRIORITY, Math.max(0, ...others.map(({ priority }) => priority)) + 1),
    cost: emptyPrices(kind),
  }
}

const MAX_PRIORITY = 1_000

/** Form values of an existing product. */
export function draftOf(product: ProductRecord): ProductDraft {
  const { pricing, overheads, tokenizer = null, parameterValues, modalities: of, providers = [] } = product
  const values = { ...emptyDraft(product.kind).values }
  for (const name of ['size', 'format', 'quality', 'voice'] as const)
    values[name] = (parameterValues[name] ?? []).join(', ')
  return {
    ...emptyDraft(product.kind),
    id: product.id,
    name: product.name,
    description: product.description,
    ownedBy: product.ownedBy,
    contextLength: String(product.contextLength),
    maxOutputTokens: String(product.maxOutputTokens),
    ...pricesOf(product.kind, pricing),
    factor: String(overheads?.factor ?? 1),
    maxTokensPerImage: String(overheads?.maxTokensPerImage ?? ''),
    tokenizer: tokenizer ?? '',
    isModerated: product.isModerated,
    supportedParameters: product.supportedParameters.join(', '),
    input: [...of.input],
    output: [...of.output],
    maxOutputBytes: String(product.maxOutputBytes),
    values,
    providers: providers
      .toSorted((a, b) => a.priority - b.priority) // as the gateway tries them
      .map(({ cost, ...route }, key) => ({
        ...route,
        key,
        cost: cost ? pricesOf(product.kind, cost) : { ...emptyPrices(product.kind), unit: pricing.unit },
      })),
  }
}

function pricesOf(kind: ProductKind, pricing: ProductPricing): PriceDraft {
  const { unit } = pricing
  if (pricing.unit === 'request') return { ...emptyPrices(kind), unit, request: pricing.request }
  const million = (usd: string | undefined) => (usd === undefined ? '' : perMillion(usd))
  return {
    ...emptyPrices(kind),
    unit,
    prompt: million(pricing.prompt),
    completion: million(pricing.completion),
    cachedPrompt: million(pricing.cachedPrompt),
    cacheWrite: million(pricing.cacheWrite),
    reasoning: million(pricing.reasoning),
  }
}

/** Request body for a new product, or null if a price is missing or a price or cost is invalid. */
export function bodyOf(draft: ProductDraft, state: 'draft' | 'published' = 'draft'): NewProduct | null {
  const fields = fieldsOf(draft)
  return fields && { id: draft.id.trim(), kind: draft.kind, ...fields, state }
}

/** Changed fields of a product, or null if a price is missing or a price or cost is invalid. */
export function patchOf(product: ProductRecord, draft: ProductDraft): ProductPatch | null {
  const [before, after] = [fieldsOf(draftOf(product)), fieldsOf(draft)]
  if (!after) return null
  const { overheads, ...patch } = changedOf(before ?? {}, after)
  return { ...patch, ...(overheads && { overheads: changedOf(before?.overheads ?? {}, overheads) }) }
}

/**
 * Moves unsaved changes of a form from the product they began with to the product as saved now. A field that both
 * changed differently keeps what was typed, and is a conflict.
 */
export function rebase(draft: ProductDraft, base: ProductDraft, saved: ProductDraft): [ProductDraft, Conflicts] {
  const rebased = changesOver(saved, base, draft)
  const [ours, theirs] = [changedOf(saved, rebased), changedOf(base, saved)]
  return [rebased, namesOf(theirs).filter((name) => name in ours)]
}

export type Conflicts = readonly (keyof ProductDraft)[]

/** Names of the fields in which two drafts differ. */
export const changedNames = (before: ProductDraft, after: ProductDraft): Conflicts => namesOf(changedOf(before, after))

const namesOf = (fields: Partial<ProductDraft>) => Object.keys(fields) as (keyof ProductDraft)[]

function fieldsOf(draft: ProductDraft) {
  const pricing = pricingOf(draft.kind, draft)
  const providers = draft.providers.flatMap((route) => routeOf(draft.kind, route) ?? [])
  if (!pricing || providers.length < draft.providers.length) return null
  return {
    name: draft.name,
    description: draft.description,
    ownedBy: draft.ownedBy,
    contextLength: Number(draft.contextLength),
    maxOutputTokens: draft.kind === 'embedding' ? 1 : Number(draft.maxOutputTokens),
    pricing,
    tokenizer: draft.tokenizer === '' ? null : draft.tokenizer,
    overheads: {
      factor: Number(draft.factor),
      maxTokensPerImage: draft.maxTokensPerImage.trim() === '' ? null : Number(draft.maxTokensPerImage),
    },
    isModerated: draft.isModerated,
    supportedParameters: wordsOf(draft.supportedParameters),
    modalities: { input: draft.input, output: draft.output },
    maxOutputBytes: Number(draft.maxOutputBytes),
    parameterValues: valuesOf(draft),
    providers,
  }
}

function routeOf(kind: ProductKind, { key: _, cost: typed, ...route }: ProviderRoute): ProductProviders[number] | null {
  const cost = costOf(kind, typed)
  return cost === null ? null : { ...route, ...(cost && { cost }) }
}

/** What a provider charges; undefined if nothing was entered, or null if it is incomplete or invalid. */
export function costOf(kind: ProductKind, cost: PriceDraft): ProductPricing | undefined | null {
  const isBlank = priceFieldsOf(kind, cost).every((name) => cost[name].trim() === '')
  return isBlank ? undefined : pricingOf(kind, cost)
}

/** The prices that a form shows. An embedding has no output, and no other kind of input than its prompt. */
export function priceFieldsOf(kind: ProductKind, { unit }: Pick<PriceDraft, 'unit'>): readonly PriceField[] {
  if (unit === 'request') return ['request']
  return kind === 'embedding' ? ['prompt'] : ['prompt', 'completion', 'cachedPrompt', 'cacheWrite', 'reasoning']
}

/** Names of the parameters that nodes of a kind can set. */
export function valueNames(kind: ProductKind): readonly (keyof ProductDraft['values'])[] {
  return kind === 'chat' || kind === 'embedding' ? [] : mediaParameters[kind]
}

/** Prices of a draft, or null if one is missing or invalid. */
export function pricingOf(kind: ProductKind, draft: PriceDraft): ProductPricing | null {
  if (draft.unit === 'request') {
    const request = usdOfCall(draft.request)
    return request === null ? null : { unit: 'request', request }
  }
  const prompt = usdOfMillion(draft.prompt)
  if (kind === 'embedding') return prompt === null ? null : { unit: 'tokens', prompt, completion: '0' }
  const completion = usdOfMillion(draft.completion)
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
function wordsOf(text: string): string[] {
  return text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')
}

function valuesOf({ kind, values }: Pick<ProductDraft, 'kind' | 'values'>): ParameterValues {
  const listed = valueNames(kind).map((name) => [name, wordsOf(values[name])] as const)
  return Object.fromEntries(listed.filter(([, words]) => words.length > 0))
}

function orNone(text: string): string | null | undefined {
  return text.trim() === '' ? undefined : usdOfMillion(text)
}

type Modality = ProductRecord['modalities']['input'][number]
export const modalities: readonly Modality[] = ['text', 'image', 'audio', 'file', 'video', 'embedding']
export type Tokenizer = NonNullable<ProductRecord['tokenizer']>

/** Form values of a product. Prices are in USD, per million tokens or per call. */
export interface ProductDraft extends PriceDraft {
  id: string
  kind: ProductKind
  name: string
  description: string
  ownedBy: string
  contextLength: string
  maxOutputTokens: string
  factor: string
  /** Empty: images are refused. */
  maxTokensPerImage: string
  tokenizer: '' | Tokenizer
  isModerated: boolean
  supportedParameters: string
  input: Modality[]
  output: Modality[]
  maxOutputBytes: string
  values: Record<'size' | 'format' | 'quality' | 'voice', string>
  providers: ProviderRoute[]
}

/** Prices as typed: USD per million tokens, or per call. */
export interface PriceDraft {
  unit: 'tokens' | 'request'
  prompt: string
  completion: string
  /** Empty: the prompt price applies. */
  cachedPrompt: string
  /** Empty: the prompt price applies. */
  cacheWrite: string
  /** Empty: the completion price applies. */
  reasoning: string
  request: string
}

/** A provider's model that serves a product. */
export interface ProviderRoute {
  /** Identity of the row, which it keeps when rows are reordered. */
  key: number
  provider: string
  model: string
  priority: number
  /** All empty: unknown. */
  cost: PriceDraft
}

const PLACES = 6

/** Exact price of one token from a typed price per million: "0.15" gives "0.00000015". null if it isn't a price. */
export function usdOfMillion(text: string): string | null {
  const [, whole, fraction = ''] = /^\s*\$?\s*(\d{1,9})(?:\.(\d{1,6}))?\s*$/.exec(text) ?? []
  return whole === undefined ? null : usdFromPico(BigInt(whole + fraction.padEnd(PLACES, '0')))
}

/** Typed price per call as the API expects it, or null if it isn't a price. */
export function usdOfCall(text: string): string | null {
  const [, usd] = /^\s*\$?\s*(\d{1,7}(?:\.\d{1,12})?)\s*$/.exec(text) ?? []
  return usd ?? null
}
