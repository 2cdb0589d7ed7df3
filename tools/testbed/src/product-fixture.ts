import type { ProductProviders } from '@gateway/api/console/products'
import type { QueryResult } from 'pg'
import { nameOf } from './ask.ts'

// Products of a fixture, inserted directly into the table.

export interface ProductOptions {
  id?: string
  state?: 'draft' | 'published' | 'suspended'
  kind?: 'chat' | 'embedding' | 'image' | 'audio'
  contextLength?: number
  maxOutputTokens?: number
  supportedParameters?: string[]
  /** Pico-USD per token or per request. */
  promptPico?: bigint
  completionPico?: bigint
  requestPico?: bigint
  cachedPico?: bigint | null
  reasoningPico?: bigint | null
  cacheWritePico?: bigint | null
  tokensPerByteMillionths?: number
  perMessage?: number
  perTool?: number
  fixedWithTools?: number
  maxTokensPerImage?: number | null
  takesFiles?: boolean
  imageMaxBytes?: number
  imageMaxCount?: number
  imageHttps?: boolean
  maxOutputBytes?: number
  parameterValues?: object
  providers?: ProductProviders
}

interface ProductFixtureDeps {
  id: (prefix: 'm') => string
  run: (sql: string, values?: unknown[]) => Promise<QueryResult>
}

export function productFixtures({ id, run }: ProductFixtureDeps) {
  /** Creates a product, published unless `state` says otherwise. */
  async function publishProduct(options: ProductOptions = {}): Promise<string> {
    const product = options.id ?? `acme/${id('m')}`
    const kind = options.kind ?? 'chat'
    const request = options.requestPico ?? (kind === 'chat' || kind === 'embedding' ? 0n : 40_000_000n)
    await run(
      `INSERT INTO control.products (id, name, description, owned_by, kind, state, context_length, max_output_tokens, supported_parameters,
         input_modalities, output_modalities, unit, prompt_pico, completion_pico, request_pico, tokens_per_byte_millionths, per_message,
         per_tool, fixed_with_tools, max_tokens_per_image, providers, image_max_bytes, image_max_count, image_https, max_output_bytes,
         parameter_values, cached_pico, reasoning_pico, cache_write_pico)
       VALUES ($1, $25, 'A model', 'acme', $2, $3, $4, $5, $6, $26, '{text}', $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,
         $20, $21, $22, $23, $24)`,
      [
        product,
        kind,
        options.state ?? 'published',
        options.contextLength ?? 128_000,
        options.maxOutputTokens ?? 8192,
        options.supportedParameters ?? [
          'temperature',
          'top_p',
          'seed',
          'stop',
          'max_tokens',
          'tools',
          'tool_choice',
          'response_format',
        ],
        request > 0n ? 'request' : 'tokens',
        request > 0n ? 0n : (options.promptPico ?? 150_000n),
        request > 0n ? 0n : (options.completionPico ?? 600_000n),
        request,
        options.tokensPerByteMillionths ?? 1_000_000,
        options.perMessage ?? 8,
        options.perTool ?? 16,
        options.fixedWithTools ?? 64,
        options.maxTokensPerImage ?? null,
        JSON.stringify(options.providers ?? [{ provider: 'simulated', model: 'sim', priority: 1 }]),
        options.imageMaxBytes ?? 5_242_880,
        options.imageMaxCount ?? 10,
        options.imageHttps ?? false,
        options.maxOutputBytes ?? 5_242_880,
        JSON.stringify(options.parameterValues ?? {}),
        options.cachedPico ?? null,
        options.reasoningPico ?? null,
        options.cacheWritePico ?? null,
        nameOf(product),
        options.takesFiles ? ['text', 'file'] : ['text'],
      ],
    )
    return product
  }

  return { publishProduct }
}
