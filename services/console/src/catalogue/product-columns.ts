import { composePricing } from '@gateway/ledger-protocol/compose-invocation'
import { mediaParameters } from '@gateway/api/console/fields'
import type { z } from 'zod'
import type {
  ParameterValues,
  ProductKind,
  ProductPricing,
  ProductProviders,
  ProductRecord,
  newProductBody,
  productPatch,
} from '@gateway/api/console/products'
import { productDefaults } from '@gateway/api/product-defaults'
import type { ConsoleDeps } from '../deps.ts'
import { invalidField } from '../request/check.ts'
import { outputCap } from '@gateway/pricing/upper-bound'
import { picoFromUsd, usdFromPico, type Pico, type Price } from '@gateway/pricing/price'

export type ProductRow = NonNullable<Awaited<ReturnType<ConsoleDeps['prisma']['product']['findUnique']>>>

const MILLION = 1_000_000

/** Columns of a new product. */
export function columnsOfNew({ id, kind, ...fields }: z.output<typeof newProductBody>) {
  const { input, output } = fields.modalities ?? productDefaults.modalities[kind]
  return {
    id,
    kind,
    name: fields.name,
    description: fields.description,
    ownedBy: fields.ownedBy,
    state: fields.state,
    contextLength: fields.contextLength,
    maxOutputTokens: fields.maxOutputTokens,
    supportedParameters: fields.supportedParameters,
    inputModalities: [...input],
    outputModalities: [...output],
    isModerated: fields.isModerated,
    tokenizer: fields.tokenizer,
    ...columnsOfNewOverheads(fields),
    ...columnsOfImageInput(fields.imageInput),
    maxOutputBytes: fields.maxOutputBytes,
    parameterValues: valuesOf(kind, fields.parameterValues),
    ...columnsOfPrice(kind, fields.pricing),
    providers: withCheckedCosts(kind, fields.providers),
  }
}

/** Columns of the fields a patch names. */
export function columnsOfPatch(kind: ProductKind, patch: z.output<typeof productPatch>) {
  const { modalities, overheads, imageInput, parameterValues, pricing, providers, ...asTheyAre } = patch
  const { tokensPerByte, factor, ...tokens } = overheads ?? {}
  const given = Object.entries({ ...asTheyAre, ...tokens }).filter(([, value]) => value !== undefined)
  return {
    ...Object.fromEntries(given),
    ...(tokensPerByte !== undefined && { tokensPerByteMillionths: millionths(tokensPerByte) }),
    ...(factor !== undefined && { factorMillionths: millionths(factor) }),
    ...(modalities && { inputModalities: modalities.input, outputModalities: modalities.output }),
    ...(imageInput && columnsOfImageInput(imageInput)),
    ...(parameterValues && { parameterValues: valuesOf(kind, parameterValues) }),
    ...(pricing && columnsOfPrice(kind, pricing)),
    ...(providers && { providers: withCheckedCosts(kind, providers) }),
  }
}

/**
 * Checks that a chat call without `max_tokens` can have a prompt (money §2.3).
 * @throws Refusal `invalid_request` for `maxOutputTokens`
 */
export function requireRoomForPrompt({
  kind,
  contextLength,
  maxOutputTokens,
}: Pick<ProductRow, 'kind' | 'contextLength' | 'maxOutputTokens'>): void {
  const cap = outputCap(null, BigInt(maxOutputTokens))
  if (kind !== 'chat' || cap < contextLength) return
  const wrong = `lets a call without max_tokens ask for ${cap} tokens, which fill the context of ${contextLength}.`
  throw invalidField('maxOutputTokens', wrong, 'Leave room for a prompt.')
}

/** Product as the API returns it. Fields that reveal its providers are for the platform operator only. */
export function productRecord(row: ProductRow, toOperator: boolean): ProductRecord {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    ownedBy: row.ownedBy,
    kind: row.kind as ProductKind,
    state: row.state as ProductRecord['state'],
    contextLength: row.contextLength,
    maxOutputTokens: row.maxOutputTokens,
    supportedParameters: row.supportedParameters,
    modalities: { input: row.inputModalities, output: row.outputModalities } as ProductRecord['modalities'],
    isModerated: row.isModerated,
    imageInput: { maxBytes: row.imageMaxBytes, maxCount: row.imageMaxCount, https: row.imageHttps },
    maxOutputBytes: row.maxOutputBytes,
    parameterValues: row.parameterValues as ParameterValues,
    pricing: composePricing(row),
    ...(toOperator && operatorsFields(row)),
    createdAt: row.createdAt.toISOString(),
  }
}

/**
 * Fields for the operator only. Tokenizer and overheads are specific to a provider's models, so they would reveal it.
 */
function operatorsFields(row: ProductRow): Pick<ProductRecord, 'tokenizer' | 'overheads' | 'providers'> {
  return {
    tokenizer: row.tokenizer as NonNullable<ProductRecord['tokenizer']> | null,
    overheads: {
      tokensPerByte: row.tokensPerByteMillionths / MILLION,
      perMessage: row.perMessage,
      perTool: row.perTool,
      fixedWithTools: row.fixedWithTools,
      maxTokensPerImage: row.maxTokensPerImage,
      factor: row.factorMillionths / MILLION,
    },
    providers: row.providers as ProductProviders,
  }
}

function columnsOfNewOverheads({
  tokenizer,
  overheads,
}: Pick<z.output<typeof newProductBody>, 'tokenizer' | 'overheads'>) {
  const { counted, uncounted } = productDefaults.tokensPerByte
  const { tokensPerByte = tokenizer === null ? uncounted : counted, factor, ...tokens } = overheads
  return { ...tokens, tokensPerByteMillionths: millionths(tokensPerByte), factorMillionths: millionths(factor) }
}

/** Rounds up: rounding must never lower a bound. */
function millionths(rate: number): number {
  return Math.ceil(Math.round(rate * 1e9) / 1_000)
}

function columnsOfImageInput({ maxBytes, maxCount, https }: z.output<typeof newProductBody>['imageInput']) {
  return { imageMaxBytes: maxBytes, imageMaxCount: maxCount, imageHttps: https }
}

/** Checks that a product lists only values of parameters its kind of node has, and formats its kind can produce. */
function valuesOf(kind: ProductKind, values: ParameterValues): ParameterValues {
  const names: readonly string[] = kind === 'chat' || kind === 'embedding' ? [] : mediaParameters[kind]
  const other = Object.keys(values).find((name) => !names.includes(name))
  if (other !== undefined)
    throw invalidField(`parameterValues.${other}`, `is not a parameter of ${kind} products.`, 'Leave it out.')
  const formats: readonly string[] = kind === 'audio' ? ['wav', 'mp3'] : ['png', 'jpeg', 'webp']
  if (values.format?.some((format) => !formats.includes(format)))
    throw invalidField('parameterValues.format', `may only have ${formats.join(', ')} for ${kind} products.`)
  return values
}

/** Media products carry a fixed price per request (money §1.2). */
function columnsOfPrice(kind: ProductKind, pricing: ProductPricing, field = 'pricing') {
  if (kind === 'embedding' && pricing.unit === 'tokens' && Number(pricing.completion) > 0)
    throw invalidField(`${field}.completion`, 'is not 0, and embeddings have no completion.', 'Send 0.')
  if (kind === 'chat' || kind === 'embedding' || pricing.unit === 'request') return columnsOfPricing(pricing, field)
  const rule = `a product of the kind ${kind} is priced per request.`
  throw invalidField(`${field}.unit`, rule, `Send ${field} with the unit request.`)
}

/**
 * What a provider charges is limited like a price of the kind. Its unit may differ from that of the price: a chat priced
 * per request still has tokens.
 */
function withCheckedCosts(kind: ProductKind, providers: ProductProviders): ProductProviders {
  for (const [n, { cost }] of providers.entries()) if (cost) columnsOfPrice(kind, cost, `providers.${n}.cost`)
  return providers
}

/** Price as stored, in whole pico-USD. */
interface PriceColumns extends Price {
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
