import { z } from 'zod'
import { label, paragraph, time } from './fields.ts'

const tokens = z.int().min(1).max(10_000_000)
const usd = z.string().regex(/^\d{1,7}(\.\d{1,12})?$/, 'must be a decimal string of USD with at most 12 places')

export const productPricing = z.discriminatedUnion('unit', [
  z.strictObject({
    unit: z.literal('tokens'),
    prompt: usd,
    completion: usd,
    cachedPrompt: usd.optional().describe('of prompt tokens read from a cache, at most prompt; absent: like prompt'),
    reasoning: usd.optional().describe('of completion tokens that were thought, at most completion; absent: like it'),
  }),
  z.strictObject({ unit: z.literal('request'), request: usd }),
])
export type ProductPricing = z.infer<typeof productPricing>

const productId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/, 'must be 1 to 128 of letters, digits and . _ : / -')
  .refine((text) => !text.startsWith('sbx-'), 'must not start with sbx-, which names sandbox products')
const parameterName = z.string().regex(/^[a-z_]{1,64}$/)
const modality = z.enum(['text', 'image', 'audio', 'file', 'video'])

const productFields = {
  name: label(100),
  description: paragraph(2000),
  ownedBy: label(100).describe('the publisher, never a provider'),
  state: z.enum(['draft', 'published', 'suspended']),
  contextLength: tokens,
  maxOutputTokens: tokens,
  supportedParameters: z.array(parameterName).max(64),
  modalities: z.strictObject({ input: z.array(modality).min(1), output: z.array(modality).min(1) }),
  isModerated: z.boolean(),
  tokenizer: z.enum(['o200k_base', 'cl100k_base']).nullable(),
  overheads: z.strictObject({
    tokensPerByte: z.number().min(0.000001).max(1),
    perMessage: z.int().min(0).max(10_000),
    perTool: z.int().min(0).max(10_000),
    fixedWithTools: z.int().min(0).max(100_000),
    maxTokensPerImage: z.int().min(1).max(100_000).nullable().describe('null: image parts are refused'),
  }),
  pricing: productPricing,
}
/** Where calls go, by priority. The platform operator's alone. */
const providers = z
  .array(
    z.strictObject({
      provider: z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/),
      model: label(256),
      priority: z.int().min(0).max(1000),
    }),
  )
  .min(1)
  .max(16)

export const productKind = z.enum(['chat', 'image', 'audio'])
export type ProductKind = z.infer<typeof productKind>

/** What a product is unless it says otherwise. The bound of a prompt is a token a byte and these tokens besides. */
export const productDefaults = {
  overheads: { tokensPerByte: 1, perMessage: 8, perTool: 16, fixedWithTools: 64, maxTokensPerImage: null },
  supportedParameters: ['max_tokens', 'temperature', 'top_p', 'stop', 'stream', 'stream_options'],
  modalities: {
    chat: { input: ['text'], output: ['text'] },
    image: { input: ['text'], output: ['image'] },
    audio: { input: ['text'], output: ['audio'] },
  },
} as const

export const newProductBody = z.strictObject({
  id: productId,
  kind: productKind,
  ...productFields,
  description: productFields.description.default(''),
  state: productFields.state.default('draft'),
  supportedParameters: productFields.supportedParameters.default([...productDefaults.supportedParameters]),
  modalities: productFields.modalities.optional(),
  isModerated: z.boolean().default(false),
  tokenizer: productFields.tokenizer.default(null),
  overheads: productFields.overheads.default({ ...productDefaults.overheads }),
  providers,
})
export const productPatch = z.strictObject({ ...productFields, providers }).partial()

export const productRecord = z.strictObject({
  id: z.string(),
  kind: productKind,
  ...productFields,
  providers: providers.optional().describe('shown to the platform operator only'),
  createdAt: time,
})
export type ProductRecord = z.infer<typeof productRecord>
