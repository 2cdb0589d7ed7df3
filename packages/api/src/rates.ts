import { z } from 'zod'

const limit = (max: number, what: string) => z.int().min(1).max(max).nullable().default(null).describe(what)

/** Limits per minute of a key, fixed at its creation, or of a project, which its owners change (rules §2.8). */
export const rateLimits = z.strictObject({
  requestsPerMinute: limit(1_000_000, 'admitted calls and executions in a minute, counted from the first; null: any'),
  tokensPerMinute: limit(1_000_000_000, 'tokens of chat calls in such a minute, prompt and completion; null: any'),
  concurrentCalls: limit(100_000, 'chat calls that run at the same time; null: any'),
})
export type RateLimits = z.output<typeof rateLimits>

export const noRateLimits: RateLimits = { requestsPerMinute: null, tokensPerMinute: null, concurrentCalls: null }
