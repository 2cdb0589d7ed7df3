import type { CallerQuestion, ModelsAnswer } from '@gateway/contracts/ledger-reads'
import type { ModelEntry } from '@gateway/contracts/model-entry'
import type { Database } from '@gateway/database/client'
import { usdFromPico } from '@gateway/money/price'
import { readCaller } from './caller.ts'

interface ProductRow {
  id: string
  name: string
  description: string
  owned_by: string
  context_length: number
  max_output_tokens: number
  supported_parameters: string[]
  input_modalities: string[]
  output_modalities: string[]
  is_moderated: boolean
  unit: 'tokens' | 'request'
  prompt_pico: bigint
  completion_pico: bigint
  request_pico: bigint
  created_at: Date
}

/** What a key can call now: the same view and the same refusals as admission (spec 4.1). */
export function readModels({ prisma }: Pick<Database, 'prisma'>) {
  return async (question: CallerQuestion): Promise<ModelsAnswer> => {
    const caller = await readCaller({ prisma }, question)
    if ('refused' in caller) return caller
    const products = await prisma.$queryRaw<ProductRow[]>`
      SELECT p.* FROM money.callable_chat_products p JOIN money.callers k ON k.project = p.project
       WHERE k.id = ${caller.id}
         AND (k.policy = 'all-eligible' OR EXISTS (SELECT FROM control.key_resources r WHERE r.key = k.id AND r.resource = p.id))
       ORDER BY p.id`
    return { entries: products.map(entryOf) }
  }
}

function entryOf(product: ProductRow): ModelEntry {
  const modality = `${product.input_modalities.join('+')}->${product.output_modalities.join('+')}`
  return {
    id: product.id,
    object: 'model',
    created: Math.floor(product.created_at.getTime() / 1000),
    name: product.name,
    description: product.description,
    owned_by: product.owned_by,
    modality,
    context_length: product.context_length,
    max_output_tokens: product.max_output_tokens,
    architecture: {
      modality,
      input_modalities: product.input_modalities,
      output_modalities: product.output_modalities,
    },
    top_provider: {
      context_length: product.context_length,
      max_completion_tokens: product.max_output_tokens,
      is_moderated: product.is_moderated,
    },
    supported_parameters: product.supported_parameters,
    pricing: pricingOf(product),
  }
}

function pricingOf({ unit, prompt_pico, completion_pico, request_pico }: ProductRow): ModelEntry['pricing'] {
  if (unit === 'request')
    return { unit, request: usdFromPico(request_pico), usd_per_request: Number(usdFromPico(request_pico)) }
  return {
    unit,
    prompt: usdFromPico(prompt_pico),
    completion: usdFromPico(completion_pico),
    input_usd_per_1m: Number(usdFromPico(prompt_pico * 1_000_000n)),
    output_usd_per_1m: Number(usdFromPico(completion_pico * 1_000_000n)),
  }
}
