import { z } from 'zod'
import { chargeMicro, costMicro } from '@gateway/pricing/price'

/** A count of tokens is at most this; a charge never exceeds what was reserved anyway. */
export const MAX_TOKENS = 10_000_000

/** A number of tokens, as services write it to each other. */
export const tokens = z.int().min(0).max(MAX_TOKENS)

/** What a call has used, as the ledger records and prices it. */
export const usage = z.strictObject({
  promptTokens: tokens,
  completionTokens: tokens,
  /** Of the prompt, read from the provider's cache. Absent where it told none. */
  cachedTokens: tokens.optional(),
  /** Of the completion, thought by the model. Absent where it told none. */
  reasoningTokens: tokens.optional(),
  /** Counted by us, because the provider did not report it or its answer was cut short. */
  estimated: z.boolean(),
})
export type Usage = z.infer<typeof usage>

/** Its counts: each is a field of the invocation record, and a column of money.attempts (`promptTokens`: prompt_tokens). */
export const usageCounts = usage.keyof().exclude(['estimated']).options
export type UsageCount = (typeof usageCounts)[number]

/** Those of its counts that have their own price, as exact as money is. */
export function pricedParts({
  cachedTokens = 0,
  reasoningTokens = 0,
}: Pick<Usage, 'cachedTokens' | 'reasoningTokens'>) {
  return { cachedTokens: BigInt(cachedTokens), reasoningTokens: BigInt(reasoningTokens) }
}

/** Of what has a price per call and no tokens. */
export const noTokens: Usage = { promptTokens: 0, completionTokens: 0, estimated: false }

/** Leaves of what was counted what the ledger records, each count within its bound. */
export function recordedUsage(counted: Usage): Usage {
  const fields = Object.keys(usage.shape) as (keyof Usage)[]
  return Object.fromEntries(fields.map((field) => [field, bounded(counted[field])])) as Usage
}

function bounded<Value>(value: Value): Value | number {
  return typeof value === 'number' ? Math.min(value, MAX_TOKENS) : value
}

/**
 * What an admission computes the upper bound of a call from (money §2.1): of a direct call and of a node's call
 * alike.
 */
export const promptSize = z.strictObject({
  bytes: z.int().min(0).max(4_000_000),
  messages: z.int().min(0).max(1000),
  tools: z.int().min(0).max(1000),
  images: z.int().min(0).max(10_000),
  /** An exact count of the prompt's tokens, where one was made. */
  counted: tokens.nullable(),
  maxTokens: tokens.nullable(),
})

/**
 * The price at which a call was admitted, in pico-USD as decimal digits: of a token of the prompt and of the completion, of the
 * call, of a cached token of the prompt and of a thought one of the completion. null: no separate price.
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
