import { costMicro, type Micro, type Price } from '@gateway/money/price'

/** How many tokens a product's wrapping of a request may add; declared by the product (money §2.2). */
export interface Overheads {
  /** At most 1: a byte-level tokenizer makes no token of less than a byte. In millionths. */
  tokensPerByteMillionths: bigint
  perMessage: bigint
  perTool: bigint
  fixedWithTools: bigint
  /** null: the product takes no images. */
  maxTokensPerImage: bigint | null
}

export interface Measured {
  bytes: bigint
  messages: bigint
  tools: bigint
  images: bigint
  /** An exact count, where one was made. */
  counted: bigint | null
}

const MILLION = 1_000_000n

/** No more tokens than this can the prompt have. */
export function promptTokensBound(overheads: Overheads, measured: Measured): bigint {
  const text = measured.counted ?? (measured.bytes * overheads.tokensPerByteMillionths + MILLION - 1n) / MILLION
  const tools = measured.tools > 0n ? measured.tools * overheads.perTool + overheads.fixedWithTools : 0n
  return text + measured.messages * overheads.perMessage + tools + measured.images * (overheads.maxTokensPerImage ?? 0n)
}

/** Output tokens asked of the provider: 0 and absent mean min(8192, the model's maximum) (money §2.3). */
export function outputCap(maxTokens: bigint | null, maxOutputTokens: bigint): bigint {
  if (maxTokens) return maxTokens
  return maxOutputTokens < 8192n ? maxOutputTokens : 8192n
}

/** What a call can cost at most: the reservation. */
export function upperBoundMicro(price: Price, promptTokens: bigint, cap: bigint): Micro {
  return costMicro(price, promptTokens, cap)
}
