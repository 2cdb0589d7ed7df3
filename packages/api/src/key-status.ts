import { z } from 'zod'
import { exampleIds } from './example-ids.ts'
import { rateLimits } from './rates.ts'

const micro = z.int().min(0)
const time = z.string().describe('ISO 8601, UTC')

/**
 * GET /v1/key: what a key is and what is left of its limit (rules §6.11). Reveals nothing about other keys or the
 * wallet.
 */
export const keyStatus = z
  .strictObject({
    object: z.literal('key'),
    id: z.string(),
    tenant: z.string(),
    project: z.string(),
    state: z.enum(['Active', 'Rotated']).describe('Rotated: replaced, and still valid for its grace period'),
    policy: z.enum(['all-eligible', 'listed']),
    resources: z.array(z.string()).optional().describe('the allowlist of a listed key'),
    limit: z.strictObject({ micro, reset: z.enum(['daily', 'weekly', 'monthly', 'lifetime']) }).nullable(),
    spentMicro: micro
      .nullable()
      .describe('spent in this window by the key and its replacements; null: no limit, so not metered'),
    reservedMicro: micro.nullable().describe('reserved for running calls in this window'),
    remainingMicro: micro.nullable(),
    resetsAt: time.nullable().describe('when the window ends; null: never'),
    rates: rateLimits,
    expiresAt: time.nullable(),
  })
  .meta({
    examples: [
      {
        object: 'key',
        id: exampleIds.key,
        tenant: exampleIds.tenant,
        project: exampleIds.project,
        state: 'Active',
        policy: 'all-eligible',
        limit: { micro: 20_000_000, reset: 'monthly' },
        spentMicro: 1_250,
        reservedMicro: 308,
        remainingMicro: 19_998_442,
        resetsAt: '2026-12-01T00:00:00.000Z',
        rates: { requestsPerMinute: 600, tokensPerMinute: null, concurrentCalls: null },
        expiresAt: '2027-02-18T09:00:00.000Z',
      },
    ],
  })
export type KeyStatus = z.infer<typeof keyStatus>
