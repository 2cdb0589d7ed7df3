import { z } from 'zod'

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

/** Those of its counts that have a price of their own, as exact as money is. */
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
