import { z } from 'zod'
import { exampleIds } from '../example-ids.ts'
import { chatLimits, flowLimits } from '../limits.ts'
import { label, paragraph, time } from './fields.ts'
import { productDefaults } from '../product-defaults.ts'

const tokens = z.int().min(1).max(10_000_000)
const usd = z.string().regex(/^\d{1,7}(\.\d{1,12})?$/, 'must be a decimal string of USD with at most 12 places')

export const productPricing = z.discriminatedUnion('unit', [
  z.strictObject({
    unit: z.literal('tokens'),
    prompt: usd,
    completion: usd,
    cachedPrompt: usd
      .optional()
      .describe('price of prompt tokens read from a cache, at most prompt; by default prompt'),
    cacheWrite: usd
      .optional()
      .describe('price of prompt tokens written to a cache, at least prompt; by default prompt'),
    reasoning: usd.optional().describe('price of reasoning tokens, at most completion; by default completion'),
  }),
  z.strictObject({ unit: z.literal('request'), request: usd }),
])
export type ProductPricing = z.infer<typeof productPricing>

const productId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/, 'must be 1 to 128 of letters, digits and . _ : / -')
  .refine((text) => !text.startsWith('sbx-'), 'must not start with sbx-, which names sandbox products')
const parameterName = z.string().regex(/^[a-z_]{1,64}$/)
/** Formats of an asset; a product lists those that it can produce. */
const mediaFormats = ['png', 'jpeg', 'webp', 'wav', 'mp3'] as const
const values = z.array(label(64)).min(1).max(100)
const parameterValues = z
  .strictObject({ size: values, format: z.array(z.enum(mediaFormats)).min(1), quality: values, voice: values })
  .partial()
export type ParameterValues = z.infer<typeof parameterValues>

const modality = z.enum(['text', 'image', 'audio', 'file', 'video', 'embedding'])

/** Bounded in addition to the output cap (money §2.2). */
const overheadFields = {
  tokensPerByte: z
    .number()
    .min(0.000001)
    .max(1)
    .describe('max tokens per byte of a prompt; by default 1 with a tokenizer, otherwise 0.5'),
  perMessage: z.int().min(0).max(10_000),
  perTool: z.int().min(0).max(10_000),
  fixedWithTools: z.int().min(0).max(100_000),
  maxTokensPerImage: z.int().min(1).max(100_000).nullable().describe('null: image parts are refused'),
  factor: z
    .number()
    .min(1)
    .max(4)
    .describe(
      'factor by which the bound of a prompt is multiplied for its reservation; raised when providers report more usage than the bound',
    ),
}

const productFields = {
  name: label(100),
  description: paragraph(2000),
  ownedBy: label(100).describe('the publisher, never a provider'),
  state: z.enum(['draft', 'published', 'suspended']),
  contextLength: tokens,
  maxOutputTokens: tokens.describe(
    'a chat call without max_tokens asks for as many, at most 8,192, and needs room for its prompt in contextLength',
  ),
  supportedParameters: z.array(parameterName).max(64),
  modalities: z.strictObject({ input: z.array(modality).min(1), output: z.array(modality).min(1) }),
  isModerated: z.boolean(),
  tokenizer: z.enum(['o200k_base', 'cl100k_base']).nullable(),
  imageInput: z
    .strictObject({
      maxBytes: z.int().min(1).max(chatLimits.attachmentBytes).describe('of one image'),
      maxCount: z.int().min(1).max(chatLimits.images).describe('of one request'),
      https: z.boolean().describe('whether an image may be a URL, which only the provider fetches'),
    })
    .describe('image limits of a chat product; applies if maxTokensPerImage is a number'),
  maxOutputBytes: z
    .int()
    .min(1)
    .max(flowLimits.assetBytes)
    .describe('max size of an image or audio output; a larger one counts as a provider failure and is not charged'),
  parameterValues: parameterValues.describe('values that params of a node may set, for an image or voice product'),
  pricing: productPricing,
}
/** Providers of a product, by priority. Only the platform operator sets them. */
const providers = z
  .array(
    z.strictObject({
      provider: z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/),
      model: label(256),
      priority: z.int().min(0).max(1000),
      cost: productPricing
        .optional()
        .describe('what the provider charges for a call, for the margin of the revenue report; left out: unknown'),
    }),
  )
  .min(1)
  .max(16)
export type ProductProviders = z.infer<typeof providers>

export const productKind = z.enum(['chat', 'embedding', 'image', 'audio'])
export type ProductKind = z.infer<typeof productKind>

const { overheads: overheadDefaults } = productDefaults
const newOverheads = z.strictObject({
  tokensPerByte: overheadFields.tokensPerByte.optional(),
  perMessage: overheadFields.perMessage.default(overheadDefaults.perMessage),
  perTool: overheadFields.perTool.default(overheadDefaults.perTool),
  fixedWithTools: overheadFields.fixedWithTools.default(overheadDefaults.fixedWithTools),
  maxTokensPerImage: overheadFields.maxTokensPerImage.default(overheadDefaults.maxTokensPerImage),
  factor: overheadFields.factor.default(overheadDefaults.factor),
})

const productExample = {
  name: 'Swift',
  description: 'Fast, for short texts.',
  ownedBy: 'acme',
  state: 'published',
  contextLength: 128_000,
  maxOutputTokens: 8_192,
  pricing: { unit: 'tokens', prompt: '0.00000015', completion: '0.0000006' },
} as const
const providersExample = [
  {
    provider: 'simulated',
    model: 'swift-1',
    priority: 1,
    cost: { unit: 'tokens' as const, prompt: '0.0000001', completion: '0.0000004' },
  },
]

export const newProductBody = z
  .strictObject({
    id: productId,
    kind: productKind,
    ...productFields,
    description: productFields.description.default(''),
    state: productFields.state.default('draft'),
    supportedParameters: productFields.supportedParameters.default([...productDefaults.supportedParameters]),
    modalities: productFields.modalities.optional(),
    isModerated: z.boolean().default(false),
    tokenizer: productFields.tokenizer.default(null),
    overheads: newOverheads.prefault({}),
    imageInput: productFields.imageInput.default({ ...productDefaults.imageInput }),
    maxOutputBytes: productFields.maxOutputBytes.default(productDefaults.maxOutputBytes),
    parameterValues: productFields.parameterValues.default({}),
    providers,
  })
  .meta({ examples: [{ id: exampleIds.newProduct, kind: 'chat', ...productExample, providers: providersExample }] })
/** A patch changes only the fields that it sends, also within the overheads. */
export const productPatch = z
  .strictObject({ ...productFields, overheads: z.strictObject(overheadFields).partial(), providers })
  .partial()
  .meta({ examples: [{ description: 'Fast, for short texts.', pricing: productExample.pricing }] })

const operatorOnly = 'shown to the platform operator only'
export const productRecord = z
  .strictObject({
    id: z.string(),
    kind: productKind,
    ...productFields,
    tokenizer: productFields.tokenizer.optional().describe(operatorOnly),
    overheads: z.strictObject(overheadFields).optional().describe(operatorOnly),
    providers: providers.optional().describe(operatorOnly),
    createdAt: time,
  })
  .meta({
    examples: [
      {
        id: exampleIds.product,
        kind: 'chat',
        ...productExample,
        supportedParameters: [...productDefaults.supportedParameters],
        modalities: productDefaults.modalities.chat,
        isModerated: false,
        tokenizer: null,
        overheads: { tokensPerByte: productDefaults.tokensPerByte.uncounted, ...productDefaults.overheads },
        imageInput: productDefaults.imageInput,
        maxOutputBytes: productDefaults.maxOutputBytes,
        parameterValues: {},
        providers: providersExample,
        createdAt: '2026-11-20T09:00:00.000Z',
      },
    ],
  })
export type ProductRecord = z.infer<typeof productRecord>
