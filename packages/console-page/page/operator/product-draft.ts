import type { BodyOf } from '@gateway/api/api-route'
import type { ConsoleRoutes } from '@gateway/api/console-routes'
import type { ProductKind, ProductRecord } from '@gateway/api/console/products'
import { perMillion } from '../flow-editor/core/price-labels.ts'
import { productDefaults as defaults } from '@gateway/api/product-defaults'
import { pricingOf, valuesOf, wordsOf } from './draft-parts.ts'
import type { ProductDraft } from './typed-product.ts'

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
    maxOutputTokens: kind === 'embedding' ? '1' : '8192',
    unit: kind === 'chat' || kind === 'embedding' ? 'tokens' : 'request',
    prompt: '',
    completion: kind === 'embedding' ? '0' : '',
    cachedPrompt: '',
    cacheWrite: '',
    reasoning: '',
    request: '',
    factor: '1',
    maxTokensPerImage: '',
    tokenizer: '',
    isModerated: false,
    supportedParameters: kind === 'embedding' ? 'dimensions' : defaults.supportedParameters.join(', '),
    input: [...input],
    output: [...output],
    maxOutputBytes: String(defaults.maxOutputBytes),
    values: { size: '', format: '', quality: '', voice: '' },
    providers: [{ provider: '', model: '', priority: 1 }],
  }
}

/** Form values of an existing product. */
export function draftOf(product: ProductRecord): ProductDraft {
  const { pricing, overheads, tokenizer = null, parameterValues, modalities: of, providers = [] } = product
  const million = (usd: string | undefined) => (usd === undefined ? '' : perMillion(usd))
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
    unit: pricing.unit,
    ...(pricing.unit === 'request'
      ? { request: pricing.request }
      : {
          prompt: million(pricing.prompt),
          completion: million(pricing.completion),
          cachedPrompt: million(pricing.cachedPrompt),
          cacheWrite: million(pricing.cacheWrite),
          reasoning: million(pricing.reasoning),
        }),
    factor: String(overheads?.factor ?? 1),
    maxTokensPerImage: String(overheads?.maxTokensPerImage ?? ''),
    tokenizer: tokenizer ?? '',
    isModerated: product.isModerated,
    supportedParameters: product.supportedParameters.join(', '),
    input: [...of.input],
    output: [...of.output],
    maxOutputBytes: String(product.maxOutputBytes),
    values,
    providers: providers.map((each) => ({ ...each })),
  }
}

/** Request body for a new product in state draft, or null if a price is missing. */
export function bodyOf(draft: ProductDraft): NewProduct | null {
  const fields = fieldsOf(draft)
  return fields && { id: draft.id.trim(), kind: draft.kind, ...fields, state: 'draft' }
}

/** Changed fields of a product, or null if a price is missing. */
export function patchOf(product: ProductRecord, draft: ProductDraft): ProductPatch | null {
  const [before, after] = [fieldsOf(draftOf(product)), fieldsOf(draft)]
  if (!after) return null
  const { overheads, ...patch } = changedOf(before ?? {}, after)
  return { ...patch, ...(overheads && { overheads: changedOf(before?.overheads ?? {}, overheads) }) }
}

function changedOf<Fields extends object>(before: Partial<Fields>, after: Fields): Partial<Fields> {
  const isSame = (name: keyof Fields) => JSON.stringify(before[name]) === JSON.stringify(after[name])
  const changed = Object.entries(after).filter(([name]) => !isSame(name as keyof Fields))
  return Object.fromEntries(changed) as Partial<Fields>
}

function fieldsOf(draft: ProductDraft) {
  const pricing = pricingOf(draft)
  if (!pricing) return null
  return {
    name: draft.name,
    description: draft.description,
    ownedBy: draft.ownedBy,
    contextLength: Number(draft.contextLength),
    maxOutputTokens: Number(draft.maxOutputTokens),
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
    providers: draft.providers,
  }
}
