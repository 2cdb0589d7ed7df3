import { productDefaults } from '@gateway/api/product-defaults'
import { picoFromUsd } from '@gateway/pricing/price'

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
  return {
    id,
    name,
    description,
    ownedBy: 'Acme',
    kind: 'chat',
    state: 'published',
    inputModalities: ['text'],
    outputModalities: ['text'],
    providers: [{ provider: 'simulated', model, priority: 0 }],
    tokensPerByteMillionths: 1_000_000 * productDefaults.tokensPerByte[shape.tokenizer ? 'counted' : 'uncounted'],
    ...shape,
  }
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
