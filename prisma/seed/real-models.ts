import { productDefaults } from '@gateway/api/product-defaults'
import { outputCap } from '@gateway/pricing/upper-bound'
import { limitsOf, type ModelLimits } from './known-models.ts'
import { isDeepStrictEqual } from 'node:util'
import { perToken, product, type Product } from './product-row.ts'

/** The providers in addition to the simulated one that `npm start` can add. */
const realProviders = ['openai', 'anthropic', 'google', 'azure', 'bedrock'] as const
export type RealProvider = (typeof realProviders)[number]

/** A model of a real provider with its price in USD per token. */
export interface RealModel {
  provider: RealProvider
  model: string
  promptUsdPerToken: string
  completionUsdPerToken: string
  /** What anyone who starts it says of the model's limits; it wins over what is known of them. */
  limits?: Partial<ModelLimits> | undefined
}

export const OWNER_OF_REAL = 'Third party'

export function realProduct({ provider, model, promptUsdPerToken, completionUsdPerToken, limits }: RealModel): Product {
  const id = productIdOf(model)
  const known = limitsOf(familyOf(model))
  const supportedParameters = known.supportedParameters.filter((name) => provider !== 'bedrock' || converse.has(name))
  return {
    ...product(id, model, `The model ${model}.`, model, {
      ...known,
      supportedParameters,
      ...limits,
      maxOutputTokens: limits?.maxOutputTokens ?? fittingInto(limits?.contextLength, known.maxOutputTokens),
      // Their tools come with instructions that count.
      ...(provider !== 'openai' && provider !== 'azure' && { fixedWithTools: 1024 }),
      ...perToken(promptUsdPerToken, completionUsdPerToken),
    }),
    ownedBy: OWNER_OF_REAL,
    providers: routeOf(provider, model),
  }
}

const routeOf = (provider: string, model: string) => [{ provider, model, priority: 0 }]

/** Whether the providers of a product are those that the seed makes for a model of a real provider. */
export function isSeededRoute(id: string, providers: unknown): boolean {
  if (!isReal(providers)) return false
  const [first] = providers
  return (
    first !== undefined &&
    productIdOf(first.model) === id &&
    isDeepStrictEqual(providers, routeOf(first.provider, first.model))
  )
}

/** The product of a model; two models may have the same. */
export function productIdOf(model: string): string {
  return model.replaceAll(/[^A-Za-z0-9._:/-]/g, '-')
}

/** A call that names no cap gets the largest one, and has to have room for its prompt. */
function fittingInto(contextLength: number | undefined, maxOutputTokens: number): number {
  return contextLength === undefined ? maxOutputTokens : Math.min(maxOutputTokens, Math.ceil(contextLength / 2))
}

/** Whether a call that names no cap has room for a prompt (money §2.3). */
export function hasRoomForPrompt({
  contextLength,
  maxOutputTokens,
}: Pick<ModelLimits, 'contextLength' | 'maxOutputTokens'>): boolean {
  return outputCap(null, BigInt(maxOutputTokens)) < contextLength
}

/** What Converse has words for, no matter what the model behind it takes elsewhere (docs/providers.md). */
const converse = new Set<string>([...productDefaults.supportedParameters, 'tools', 'tool_choice'])

/** Bedrock puts a region and a publisher in front of a model's name: `us.anthropic.claude-haiku-4-5-20251001-v1:0`. */
function familyOf(model: string): string {
  return model.replace(/^(?:[a-z]+\.)?anthropic\./, '')
}

export function isReal(providers: unknown): providers is { provider: string; model: string }[] {
  return (
    Array.isArray(providers) &&
    providers.every(({ provider }: { provider: string }) => (realProviders as readonly string[]).includes(provider))
  )
}
