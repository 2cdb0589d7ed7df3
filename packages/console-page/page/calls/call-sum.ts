import { picoFromUsd, usdFromPico } from '@gateway/pricing/price'
import type { InvocationRecord } from '@gateway/api/console/money'

/** One line of a call's cost: count, unit price and amount. Prices and amounts are exact decimal USD strings. */
export interface SumLine {
  what: string
  count: number
  each: string
  amount: string
}

/** Cost of a call by line, before rounding up once to whole micro-USD (money §1.3). Empty if the call used nothing. */
export function callSum(call: Pick<InvocationRecord, 'pricing' | Counts>): SumLine[] {
  const { pricing, promptTokens, completionTokens, cachedTokens, cacheWriteTokens, reasoningTokens } = call
  if (pricing.unit === 'request') return [line('call', 1, pricing.request)]
  if (promptTokens === null || completionTokens === null) return []
  const { prompt, completion, cachedPrompt, cacheWrite, reasoning } = pricing
  const read = Math.min(cachedTokens ?? 0, promptTokens)
  const cached = cachedPrompt === undefined ? 0 : read
  const written = cacheWrite === undefined ? 0 : Math.min(cacheWriteTokens ?? 0, promptTokens - read)
  const thought = reasoning === undefined ? 0 : Math.min(reasoningTokens ?? 0, completionTokens)
  return [
    line('prompt tokens', promptTokens - cached - written, prompt),
    line('prompt tokens from a cache', cached, cachedPrompt ?? prompt),
    line('prompt tokens written to a cache', written, cacheWrite ?? prompt),
    line('completion tokens', completionTokens - thought, completion),
    line('reasoning tokens', thought, reasoning ?? completion),
  ].filter(({ count, what }) => count > 0 || what === 'prompt tokens')
}

type Counts = 'promptTokens' | 'completionTokens' | 'cachedTokens' | 'cacheWriteTokens' | 'reasoningTokens'

/** Sum of the lines as an exact decimal USD string. */
export function total(lines: SumLine[]): string {
  return usdFromPico(lines.reduce((sum, { amount }) => sum + (picoFromUsd(amount) ?? 0n), 0n))
}

function line(what: string, count: number, each: string): SumLine {
  return { what, count, each, amount: usdFromPico(BigInt(count) * (picoFromUsd(each) ?? 0n)) }
}
