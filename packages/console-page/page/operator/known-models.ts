import { productDefaults } from '@gateway/api/product-defaults'
import type { ProviderHealth } from '@gateway/api/console/provider-health'
import { emptyDraft, emptyPrices, type PriceDraft, type ProductDraft, type Tokenizer } from './product-draft.ts'

// Well-known models with their list prices, as a starting point for a product. Providers change prices and limits: an
// operator checks them. Context windows, output limits, tokens of an image and parameters are those of the seed
// (prisma/seed/known-models.ts), which names their sources. Prices are for the standard tier, per million tokens; a cache
// write has the price of the longest time to live (docs/providers.md, section 2).

/** Month in which the list prices were those of the providers. */
export const pricesAsOf = 'September 2025'

interface KnownModel {
  /** Suggested model ID of the product. */
  id: string
  name: string
  publisher: string
  /** Name that a provider of it is usually configured under, and its kind. */
  provider: string
  providerKind: string
  /** The provider's ID of the model. */
  model: string
  kind: 'chat' | 'embedding'
  contextLength: number
  maxOutputTokens: number
  prices: Partial<Record<'prompt' | 'completion' | 'cachedPrompt' | 'cacheWrite', string>>
  tokenizer: Tokenizer | null
  input: Readonly<ProductDraft['input']>
  /** null: images are refused. */
  maxTokensPerImage: number | null
  supportedParameters: readonly string[]
}

const { supportedParameters: sampled } = productDefaults
const tools = ['tools', 'tool_choice', 'parallel_tool_calls']
const penalties = ['frequency_penalty', 'presence_penalty']
const chat = [...sampled, 'seed', ...tools, 'response_format', ...penalties, 'logit_bias', 'logprobs', 'top_logprobs']
const thinking = ['max_tokens', 'stream', 'stream_options', 'seed', ...tools, 'response_format', 'reasoning_effort']
const gemini = [...sampled, 'seed', 'tools', 'tool_choice', 'response_format', ...penalties, 'reasoning_effort']
const converse = [...sampled, 'tools', 'tool_choice']

const text = { kind: 'chat', input: ['text'], maxTokensPerImage: null, tokenizer: null } as const
const openAi = {
  publisher: 'OpenAI',
  provider: 'openai',
  providerKind: 'openai-compatible',
  kind: 'chat',
  tokenizer: 'o200k_base',
  input: ['text', 'image', 'file'],
} as const
const anthropic = {
  publisher: 'Anthropic',
  provider: 'anthropic',
  providerKind: 'anthropic',
  kind: 'chat',
  tokenizer: null,
  input: ['text', 'image', 'file'],
  contextLength: 200_000,
  maxOutputTokens: 64_000,
  maxTokensPerImage: 1600,
  supportedParameters: [...sampled, ...tools, 'response_format'],
} as const
const google = {
  ...text,
  publisher: 'Google',
  provider: 'google',
  providerKind: 'gemini',
  input: ['text', 'file'],
} as const
const nova = {
  ...text,
  publisher: 'Amazon',
  provider: 'bedrock',
  providerKind: 'bedrock',
  maxOutputTokens: 5000,
} as const
const compatible = { ...text, providerKind: 'openai-compatible' } as const

const models: readonly KnownModel[] = [
  {
    ...openAi,
    id: 'openai/gpt-5',
    name: 'GPT-5',
    model: 'gpt-5',
    contextLength: 400_000,
    maxOutputTokens: 128_000,
    maxTokensPerImage: 3779,
    prices: { prompt: '1.25', completion: '10', cachedPrompt: '0.125' },
    supportedParameters: [...thinking, 'verbosity'],
  },
  {
    ...openAi,
    id: 'openai/gpt-5-mini',
    name: 'GPT-5 mini',
    model: 'gpt-5-mini',
    contextLength: 400_000,
    maxOutputTokens: 128_000,
    maxTokensPerImage: 3779,
    prices: { prompt: '0.25', completion: '2', cachedPrompt: '0.025' },
    supportedParameters: [...thinking, 'verbosity'],
  },
  {
    ...openAi,
    id: 'openai/gpt-4.1',
    name: 'GPT-4.1',
    model: 'gpt-4.1',
    contextLength: 1_047_576,
    maxOutputTokens: 32_768,
    maxTokensPerImage: 1445,
    prices: { prompt: '2', completion: '8', cachedPrompt: '0.5' },
    supportedParameters: chat,
  },
  {
    ...openAi,
    id: 'openai/gpt-4o-mini',
    name: 'GPT-4o mini',
    model: 'gpt-4o-mini',
    contextLength: 128_000,
    maxOutputTokens: 16_384,
    maxTokensPerImage: 48_169,
    prices: { prompt: '0.15', completion: '0.6', cachedPrompt: '0.075' },
    supportedParameters: chat,
  },
  {
    ...openAi,
    kind: 'embedding',
    id: 'openai/text-embedding-3-small',
    name: 'Text Embedding 3 Small',
    model: 'text-embedding-3-small',
    tokenizer: 'cl100k_base',
    input: ['text'],
    contextLength: 300_000, // bounds all inputs of a call together; the provider bounds each to 8,192 tokens
    maxOutputTokens: 1,
    maxTokensPerImage: null,
    prices: { prompt: '0.02' },
    supportedParameters: ['dimensions'],
  },
  {
    ...anthropic,
    id: 'anthropic/claude-sonnet-4.5',
    name: 'Claude Sonnet 4.5',
    model: 'claude-sonnet-4-5-20250929',
    prices: { prompt: '3', completion: '15', cachedPrompt: '0.3', cacheWrite: '6' },
  },
  {
    ...anthropic,
    id: 'anthropic/claude-3.5-haiku',
    name: 'Claude 3.5 Haiku',
    model: 'claude-3-5-haiku-20241022',
    maxOutputTokens: 8192,
    prices: { prompt: '0.8', completion: '4', cachedPrompt: '0.08', cacheWrite: '1.6' },
    supportedParameters: [...sampled, ...tools],
  },
  {
    ...google,
    id: 'google/gemini-2.5-flash',
    name: 'Gemini 2.5 Flash',
    model: 'gemini-2.5-flash',
    contextLength: 1_048_576,
    maxOutputTokens: 65_536,
    prices: { prompt: '0.3', completion: '2.5' },
    supportedParameters: gemini,
  },
  {
    ...google,
    id: 'google/gemini-2.5-flash-lite',
    name: 'Gemini 2.5 Flash-Lite',
    model: 'gemini-2.5-flash-lite',
    contextLength: 1_048_576,
    maxOutputTokens: 65_536,
    prices: { prompt: '0.1', completion: '0.4' },
    supportedParameters: gemini,
  },
  {
    ...compatible,
    id: 'mistral/mistral-large',
    name: 'Mistral Large 2.1',
    publisher: 'Mistral AI',
    provider: 'mistral',
    model: 'mistral-large-2411',
    contextLength: 128_000,
    maxOutputTokens: 8192, // no limit is published
    prices: { prompt: '2', completion: '6' },
    supportedParameters: [...sampled, ...tools, 'response_format', ...penalties],
  },
  {
    ...nova,
    id: 'amazon/nova-lite',
    name: 'Nova Lite',
    model: 'amazon.nova-lite-v1:0',
    contextLength: 300_000,
    prices: { prompt: '0.06', completion: '0.24' },
    supportedParameters: converse,
  },
  {
    ...nova,
    id: 'amazon/nova-pro',
    name: 'Nova Pro',
    model: 'amazon.nova-pro-v1:0',
    contextLength: 300_000,
    prices: { prompt: '0.8', completion: '3.2' },
    supportedParameters: converse,
  },
  {
    ...compatible,
    id: 'meta/llama-3.3-70b',
    name: 'Llama 3.3 70B',
    publisher: 'Meta',
    provider: 'groq',
    model: 'llama-3.3-70b-versatile',
    contextLength: 131_072,
    maxOutputTokens: 32_768,
    prices: { prompt: '0.59', completion: '0.79' },
    supportedParameters: [...sampled, 'seed', ...tools, 'response_format'],
  },
]

export const knownModels: ReadonlyMap<string, KnownModel> = new Map(models.map((each) => [each.name, each]))

type Configured = Pick<ProviderHealth, 'provider' | 'kind' | 'processes'>

/**
 * Form values for a known model at its list prices, which are also what its provider charges. Its route names a
 * configured provider if one has the usual name, or is the only one of a kind that no other publisher uses.
 */
export function draftOfKnown(known: KnownModel, configured: readonly Configured[]): ProductDraft {
  const { id, name, publisher, kind, model, tokenizer, input, maxTokensPerImage, supportedParameters } = known
  const empty = emptyDraft(kind)
  const prices: PriceDraft = { ...emptyPrices(kind), ...known.prices }
  return {
    ...empty,
    ...prices,
    id,
    name,
    ownedBy: publisher,
    contextLength: String(known.contextLength),
    maxOutputTokens: String(known.maxOutputTokens),
    tokenizer: tokenizer ?? '',
    input: [...input],
    maxTokensPerImage: maxTokensPerImage === null ? '' : String(maxTokensPerImage),
    supportedParameters: supportedParameters.join(', '),
    providers: empty.providers.map((route) => ({
      ...route,
      provider: providerFor(known, configured),
      model,
      cost: prices,
    })),
  }
}

function providerFor({ provider, providerKind }: KnownModel, configured: readonly Configured[]): string {
  const present = configured.filter(({ processes }) => processes.length > 0)
  if (present.some((each) => each.provider === provider)) return provider
  const ofKind = present.filter(({ kind }) => kind === providerKind && kind !== 'openai-compatible')
  return ofKind.length === 1 ? ofKind[0]!.provider : provider
}
