import type { ProductKind, ProductRecord } from '@gateway/api/console/products'

type Providers = NonNullable<ProductRecord['providers']>
export type Modality = ProductRecord['modalities']['input'][number]
export const modalities: readonly Modality[] = ['text', 'image', 'audio', 'file', 'video', 'embedding']
export type Tokenizer = NonNullable<ProductRecord['tokenizer']>

/** Form values of a product. Prices are in USD, per million tokens or per call. */
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
  /** Empty: the prompt price applies. */
  cachedPrompt: string
  /** Empty: the prompt price applies. */
  cacheWrite: string
  /** Empty: the completion price applies. */
  reasoning: string
  request: string
  factor: string
  /** Empty: images are refused. */
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
