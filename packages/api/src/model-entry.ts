import { z } from 'zod'
import { exampleIds } from './example-ids.ts'

/** The pricing of a model as callers see it (rules §4.3); never a wholesale rate. */
export const pricing = z.discriminatedUnion('unit', [
  z.strictObject({
    unit: z.literal('tokens'),
    prompt: z.string().describe('USD per prompt token, a decimal string'),
    completion: z.string().describe('USD per completion token, a decimal string'),
    input_cache_read: z
      .string()
      .optional()
      .describe('USD per prompt token read from a cache, if it has a separate price'),
    input_cache_write: z
      .string()
      .optional()
      .describe('USD per prompt token written to a cache, if it has a separate price'),
    internal_reasoning: z.string().optional().describe('USD per reasoning token, if it has a separate price'),
    input_usd_per_1m: z.number(),
    output_usd_per_1m: z.number(),
  }),
  z.strictObject({
    unit: z.literal('request'),
    request: z.string().describe('USD per successful call'),
    usd_per_request: z.number(),
  }),
  z.strictObject({
    unit: z.literal('execution'),
    prompt: z.literal('0'),
    completion: z.literal('0'),
    request: z.literal('0'),
  }),
])
export type Pricing = z.infer<typeof pricing>

/** One entry of GET /v1/models (rules §4.2). */
export const modelEntry = z
  .strictObject({
    id: z.string(),
    object: z.literal('model'),
    created: z.int().describe('Unix seconds'),
    name: z.string(),
    description: z.string(),
    owned_by: z.string(),
    modality: z.string(),
    context_length: z.int(),
    max_output_tokens: z.int(),
    architecture: z.strictObject({
      modality: z.string(),
      input_modalities: z.array(z.string()),
      output_modalities: z.array(z.string()),
    }),
    top_provider: z.strictObject({
      context_length: z.int(),
      max_completion_tokens: z.int(),
      is_moderated: z.boolean(),
    }),
    supported_parameters: z.array(z.string()),
    pricing,
    image_input: z
      .strictObject({
        max_bytes: z.int().describe('of one image'),
        max_count: z.int().describe('of one request'),
        https: z.boolean().describe('whether an image may be an https: URL, which the provider fetches'),
      })
      .optional()
      .describe('only if the model accepts images'),
    service: z.strictObject({ kind: z.literal('sandbox'), revision: z.int(), invoke: z.string() }).optional(),
  })
  .meta({
    examples: [
      {
        id: exampleIds.product,
        object: 'model',
        created: 1_795_424_400,
        name: 'Swift',
        description: 'Fast, for short texts.',
        owned_by: 'acme',
        modality: 'text->text',
        context_length: 128_000,
        max_output_tokens: 8_192,
        architecture: { modality: 'text->text', input_modalities: ['text'], output_modalities: ['text'] },
        top_provider: { context_length: 128_000, max_completion_tokens: 8_192, is_moderated: false },
        supported_parameters: ['max_tokens', 'temperature', 'top_p', 'stop'],
        pricing: {
          unit: 'tokens',
          prompt: '0.00000015',
          completion: '0.0000006',
          input_usd_per_1m: 0.15,
          output_usd_per_1m: 0.6,
        },
      },
      {
        id: exampleIds.sandbox,
        object: 'model',
        created: 1_795_424_400,
        name: 'Summary',
        description: 'Writes about a topic.',
        owned_by: 'Summaries',
        modality: 'text->text',
        context_length: 16_384,
        max_output_tokens: 8_192,
        architecture: { modality: 'text->text', input_modalities: ['text'], output_modalities: ['text'] },
        top_provider: { context_length: 16_384, max_completion_tokens: 8_192, is_moderated: false },
        supported_parameters: ['stream'],
        pricing: { unit: 'execution', prompt: '0', completion: '0', request: '0' },
        service: { kind: 'sandbox', revision: 1, invoke: `/v1/sandbox/${exampleIds.sandbox}/invoke` },
      },
    ],
  })
export type ModelEntry = z.infer<typeof modelEntry>

/** An entry of GET /v1/embeddings/models. */
export const embeddingModelExample: ModelEntry = {
  id: exampleIds.embeddingProduct,
  object: 'model',
  created: 1_795_424_400,
  name: 'Embed',
  description: 'Turns texts into vectors, for search.',
  owned_by: 'acme',
  modality: 'text->embedding',
  context_length: 300_000,
  max_output_tokens: 0,
  architecture: { modality: 'text->embedding', input_modalities: ['text'], output_modalities: ['embedding'] },
  top_provider: { context_length: 300_000, max_completion_tokens: 0, is_moderated: false },
  supported_parameters: ['dimensions'],
  pricing: {
    unit: 'tokens',
    prompt: '0.00000002',
    completion: '0',
    input_usd_per_1m: 0.02,
    output_usd_per_1m: 0,
  },
}

/** The list envelope of GET /v1/models. An empty `data` is a valid response (rules §4.1). */
export const modelList = z.strictObject({ object: z.literal('list'), data: z.array(modelEntry) })
