import type { ProductKind, ProductRecord } from '@gateway/api/console/products'

type Providers = NonNullable<ProductRecord['providers']>
export type Modality = ProductRecord['modalities']['input'][number]
export const modalities: readonly Modality[] = ['text', 'image', 'audio', 'file', 'video']
export type Tokenizer = NonNullable<ProductRecord['tokenizer']>

/** What somebody typed for a product: prices in USD, of a million tokens or of a call. */
export interface ProductDraft {
  id: string
  kind: ProductKind
  name: string
  description: string
  ownedBy: string
  contextLength: string
  maxOutputTokens: string
  unit: 'tokens' | 'request'
  prompt: string
  completion: string
  /** Empty: like the rest of the prompt. */
  cachedPrompt: string
  /** Empty: like the rest of the completion. */
  reasoning: string
  request: string
  factor: string
  /** Empty: it takes no images. */
  maxTokensPerImage: string
  tokenizer: '' | Tokenizer
  isModerated: boolean
  supportedParameters: string
  input: Modality[]
  output: Modality[]
  maxOutputBytes: string
  values: Record<'size' | 'format' | 'quality' | 'voice', string>
  providers: Providers
}
