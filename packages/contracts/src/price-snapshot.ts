import { chargeMicro, costMicro } from '@gateway/money/price'
import { pricedParts, type Usage } from './usage.ts'

/**
 * The price at which a call was admitted, in pico-USD as decimal digits: of a token of the prompt and of the completion, of the
 * call, of a cached token of the prompt and of a thought one of the completion. null: no price of its own.
 */
export type PriceSnapshot = [
  prompt: string,
  completion: string,
  request: string,
  cached: string | null,
  reasoning: string | null,
]

/** What the settlement of this usage charges, in micro-USD: the same as money.close_batch (money §3.2). */
export function chargeOfUsage(
  [prompt, completion, request, cached, reasoning]: PriceSnapshot,
  usage: Omit<Usage, 'estimated'>,
  reservedMicro: number,
): number {
  const price = {
    promptPico: BigInt(prompt),
    completionPico: BigInt(completion),
    requestPico: BigInt(request),
    cachedPico: cached === null ? null : BigInt(cached),
    reasoningPico: reasoning === null ? null : BigInt(reasoning),
  }
  const cost = costMicro(price, BigInt(usage.promptTokens), BigInt(usage.completionTokens), pricedParts(usage))
  return Number(chargeMicro(cost, BigInt(reservedMicro)))
}
