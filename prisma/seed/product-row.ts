import type { ProductPricing, ProductProviders } from '@gateway/api/console/products'
import { productDefaults } from '@gateway/api/product-defaults'
import { picoFromUsd, usdFromPico } from '@gateway/pricing/price'

interface Shape {
  kind?: 'chat' | 'embedding' | 'image' | 'audio'
  contextLength: number
  maxOutputTokens: number
  supportedParameters: string[]
  inputModalities?: string[]
  outputModalities?: string[]
  maxTokensPerImage?: number | null
  parameterValues?: Record<string, string[]>
  fixedWithTools?: number
  tokenizer?: 'o200k_base' | 'cl100k_base' | null
  unit: 'tokens' | 'request'
  promptPico: bigint
  completionPico: bigint
  requestPico: bigint
}

export type Product = ReturnType<typeof product>

/** The row of a product that the simulated provider serves. */
export function product(id: string, name: string, description: string, model: string, shape: Shape) {
  const providers: ProductProviders = [{ provider: 'simulated', model, priority: 0, cost: costOf(shape) }]
  return {
    id,
    name,
    description,
    ownedBy: 'Acme',
    kind: 'chat',
    state: 'published',
    inputModalities: ['text'],
    outputModalities: ['text'],
    providers,
    tokensPerByteMillionths: 1_000_000 * productDefaults.tokensPerByte[shape.tokenizer ? 'counted' : 'uncounted'],
    ...shape,
  }
}

/** Three fifths of the price, so that the revenue report has a margin. */
function costOf({ unit, promptPico, completionPico, requestPico }: Shape): ProductPricing {
  const cost = (pricePico: bigint) => usdFromPico((pricePico * 3n) / 5n)
  if (unit === 'request') return { unit, request: cost(requestPico) }
  return { unit, prompt: cost(promptPico), completion: cost(completionPico) }
}

/** @param prompt USD a token, like `completion` */
export function perToken(prompt: string, completion: string) {
  return { unit: 'tokens', promptPico: pico(prompt), completionPico: pico(completion), requestPico: 0n } as const
}

/** @param request USD a call */
export function perRequest(request: string) {
  return { unit: 'request', promptPico: 0n, completionPico: 0n, requestPico: pico(request) } as const
}

function pico(usd: string): bigint {
  const value = picoFromUsd(usd)
  if (value === null) throw new Error(`${usd} is not a price in USD with at most 12 places`)
  return value
}
