import { costMicro, type Micro, type Price } from './price.ts'

/** Tokens that a product's wrapping of a request may add, as declared by the product (money §2.2). */
export interface Overheads {
  /** At most 1: a byte-level tokenizer makes no token of less than a byte. In millionths. */
  tokensPerByteMillionths: bigint
  perMessage: bigint
  perTool: bigint
  fixedWithTools: bigint
  /** null: the product accepts no images. */
  maxTokensPerImage: bigint | null
}

export interface Measured {
  bytes: bigint
  messages: bigint
  tools: bigint
  images: bigint
  /** An exact count, if one was made. */
  counted: bigint | null
}

const MILLION = 1_000_000n

/** Maximum number of tokens that the prompt can have. */
export function promptTokensBound(overheads: Overheads, measured: Measured): bigint {
  const text = measured.counted ?? (measured.bytes * overheads.tokensPerByteMillionths + MILLION - 1n) / MILLION
  const tools = measured.tools > 0n ? measured.tools * overheads.perTool + overheads.fixedWithTools : 0n
  return text + measured.messages * overheads.perMessage + tools + measured.images * (overheads.maxTokensPerImage ?? 0n)
}

/** A factor in millionths: the declared one, and the maximum to which excesses raise it (money §2.5). */
export const NO_FACTOR = 1_000_000n
export const MAX_FACTOR = 4_000_000n
const FACTOR_STEP = 50_000n

/** Tokens reserved for a prompt: its bound, times the factor of its product (money §2.5). */
export function reservedPromptTokens(promptTokens: bigint, factorMillionths: bigint): bigint {
  return (promptTokens * factorMillionths + MILLION - 1n) / MILLION
}

/** Factor of a product after a provider has used more than the bound of a prompt. It never decreases. */
export function raisedFactor(factorMillionths: bigint, usedTokens: bigint, boundTokens: bigint): bigint {
  const divisor = boundTokens > 0n ? boundTokens : 1n
  const needed = (usedTokens * MILLION + divisor - 1n) / divisor
  const stepped = ((needed + FACTOR_STEP - 1n) / FACTOR_STEP) * FACTOR_STEP
  const wanted = stepped < MAX_FACTOR ? stepped : MAX_FACTOR
  return wanted > factorMillionths ? wanted : factorMillionths
}

/** Output tokens requested from the provider: 0 and absent mean min(8192, the model's maximum) (money §2.3). */
export function outputCap(maxTokens: bigint | null, maxOutputTokens: bigint): bigint {
  if (maxTokens) return maxTokens
  return maxOutputTokens < 8192n ? maxOutputTokens : 8192n
}

/** Maximum cost of a call, which is reserved: the provider may write the whole prompt to its cache. */
export function upperBoundMicro(price: Price, promptTokens: bigint, cap: bigint): Micro {
  return costMicro(price, promptTokens, cap, { cacheWriteTokens: promptTokens })
}
