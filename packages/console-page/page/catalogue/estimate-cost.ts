import type { ProductPricing } from '@gateway/api/console/products'
import { costMicro, type Micro } from '@gateway/pricing/price'
import { priceOf } from './price-of.ts'

const DAYS = 30n
const MOST_DIGITS = 9

/** Typed usage per call and number of calls per day. */
export interface Use {
  prompt: string
  cached: string
  written: string
  completion: string
  reasoning: string
  calls: string
}

export const firstUse: Use = {
  prompt: '1000',
  cached: '0',
  written: '0',
  completion: '500',
  reasoning: '0',
  calls: '100',
}

export interface CostEstimate {
  callMicro: Micro
  dayMicro: Micro
  /** 30 days. */
  monthMicro: Micro
}

/** Cost of calls as the ledger charges them: each call is rounded up separately. null if a number is missing. */
export function estimateCost(pricing: ProductPricing, use: Use): CostEstimate | null {
  const [prompt, cached, written, completion, reasoning, calls] = [
    wholeOf(use.prompt),
    wholeOf(use.cached),
    wholeOf(use.written),
    wholeOf(use.completion),
    wholeOf(use.reasoning),
    wholeOf(use.calls),
  ]
  if (prompt === null || cached === null || written === null) return null
  if (completion === null || reasoning === null || calls === null) return null
  const parts = { cachedTokens: cached, cacheWriteTokens: written, reasoningTokens: reasoning }
  const callMicro = costMicro(priceOf(pricing), prompt, completion, parts)
  return { callMicro, dayMicro: callMicro * calls, monthMicro: callMicro * calls * DAYS }
}

/** Parses a whole number; null if invalid. */
export function wholeOf(text: string): bigint | null {
  const digits = text.trim()
  return /^\d+$/.test(digits) && digits.length <= MOST_DIGITS ? BigInt(digits) : null
}
