import { z } from 'zod'

const limit = (max: number, what: string) => z.int().min(1).max(max).nullable().default(null).describe(what)

/** Limits per minute of a key, fixed at its creation, or of a project, which its owners change (rules §2.8). */
export const rateLimits = z.strictObject({
  requestsPerMinute: limit(
    1_000_000,
    'max admitted calls and executions per minute, counted from the first; null: no limit',
  ),
  tokensPerMinute: limit(
    1_000_000_000,
    'max tokens of chat calls in such a minute, prompt and completion; null: no limit',
  ),
  concurrentCalls: limit(100_000, 'max concurrent chat calls; null: no limit'),
})
export type RateLimits = z.output<typeof rateLimits>

export const noRateLimits: RateLimits = { requestsPerMinute: null, tokensPerMinute: null, concurrentCalls: null }
