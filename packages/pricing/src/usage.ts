import { z } from 'zod'
import { chargeMicro, costMicro, costPico, type Pico, type Price } from '@gateway/pricing/price'

/** Upper limit of a count of tokens; a charge never exceeds the reservation anyway. */
export const MAX_TOKENS = 10_000_000

/** A number of tokens in messages between services. */
export const tokens = z.int().min(0).max(MAX_TOKENS)

/** Usage of a call, as the ledger records and prices it. */
export const usage = z.strictObject({
  promptTokens: tokens,
  completionTokens: tokens,
  /** Prompt tokens read from the provider's cache. Absent if it reported none. */
  cachedTokens: tokens.optional(),
  /** Prompt tokens written to the provider's cache. Absent if it reported none. */
  cacheWriteTokens: tokens.optional(),
  /** Reasoning tokens of the completion. Absent if the provider reported none. */
  reasoningTokens: tokens.optional(),
  /** Counted by us, because the provider did not report it or its answer was cut short. */
  estimated: z.boolean(),
})
export type Usage = z.infer<typeof usage>

/**
 * The counts: each is a field of the invocation record, and a column of money.attempts (`promptTokens`: prompt_tokens).
 */
export const usageCounts = usage.keyof().exclude(['estimated']).options
export type UsageCount = (typeof usageCounts)[number]

/** The counts that have a separate price, as exact as money is. */
export function pricedParts({
  cachedTokens = 0,
  cacheWriteTokens = 0,
  reasoningTokens = 0,
}: Pick<Usage, 'cachedTokens' | 'cacheWriteTokens' | 'reasoningTokens'>) {
  return {
    cachedTokens: BigInt(cachedTokens),
    cacheWriteTokens: BigInt(cacheWriteTokens),
    reasoningTokens: BigInt(reasoningTokens),
  }
}

/** Usage of a call that is priced per call and has no tokens. */
export const noTokens: Usage = { promptTokens: 0, completionTokens: 0, estimated: false }

/** Reduces a count to the fields that the ledger records, each within its bound. */
export function recordedUsage(counted: Usage): Usage {
  const fields = Object.keys(usage.shape) as (keyof Usage)[]
  return Object.fromEntries(fields.map((field) => [field, bounded(counted[field])])) as Usage
}

function bounded<Value>(value: Value): Value | number {
  return typeof value === 'number' ? Math.min(value, MAX_TOKENS) : value
}

/**
 * Input from which an admission computes the upper bound of a call (money §2.1), the same for a direct call and a
 * node's call.
 */
export const promptSize = z.strictObject({
  bytes: z.int().min(0).max(4_000_000),
  /** Of a chat, or the inputs of an embedding call. */
  messages: z.int().min(0).max(2048),
  tools: z.int().min(0).max(1000),
  images: z.int().min(0).max(10_000),
  /** Their tokens are unknown, so a call with files reserves the whole context of its product. */
  files: z.int().min(0).max(100).optional(),
  /** An exact count of the prompt's tokens, if one was made. */
  counted: tokens.nullable(),
  maxTokens: tokens.nullable(),
})

/**
 * Price at which a call was admitted, or what a provider charges, in pico-USD as decimal digits: per prompt token, per completion token, per call,
 * per cached token of the prompt, per reasoning token of the completion, and per token of the prompt written to a
 * cache. null: no separate price.
 */
export type PriceSnapshot = [
  prompt: string,
  completion: string,
  request: string,
  cached: string | null,
  reasoning: string | null,
  cacheWrite: string | null,
]

/** Returns the charge for this usage in micro-USD, the same as money.close_batch (money §3.2). */
export function chargeOfUsage(price: PriceSnapshot, usage: Omit<Usage, 'estimated'>, reservedMicro: number): number {
  const cost = costMicro(...priced(price, usage))
  return Number(chargeMicro(cost, BigInt(reservedMicro)))
}

/** Returns the exact cost of this usage, for example at what a provider charges. */
export function costOfUsage(price: PriceSnapshot, usage: Omit<Usage, 'estimated'>): Pico {
  return costPico(...priced(price, usage))
}

/** An exact amount of one call in messages between services: pico-USD as decimal digits, within a bigint of Postgres. */
export const picoDigits = z.string().refine((digits) => /^\d{1,19}$/.test(digits) && BigInt(digits) < 2n ** 63n)

function priced(
  [prompt, completion, request, cached, reasoning, cacheWrite]: PriceSnapshot,
  usage: Omit<Usage, 'estimated'>,
): Parameters<typeof costPico> {
  const price: Price = {
    promptPico: BigInt(prompt),
    completionPico: BigInt(completion),
    requestPico: BigInt(request),
    cachedPico: cached === null ? null : BigInt(cached),
    reasoningPico: reasoning === null ? null : BigInt(reasoning),
    cacheWritePico: cacheWrite === null ? null : BigInt(cacheWrite),
  }
  return [price, BigInt(usage.promptTokens), BigInt(usage.completionTokens), pricedParts(usage)]
}
