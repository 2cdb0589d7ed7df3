import { z } from 'zod'
import { exampleIds } from '../example-ids.ts'
import { keyLimits } from '../limits.ts'
import { noRateLimits, rateLimits } from '../rates.ts'
import { serviceTag } from '../service-tag.ts'
import { id, label, micro, moment, time } from './fields.ts'
import { ids, pageQuery } from './page.ts'

export const keyState = z.enum(['Active', 'Paused', 'Expired', 'Revoked', 'Rotated', 'NeedsReissue'])
export type KeyState = z.infer<typeof keyState>

const spendingLimit = z.strictObject({
  micro: z.int().min(keyLimits.limitMicro.min).max(keyLimits.limitMicro.max),
  reset: z.enum(['daily', 'weekly', 'monthly', 'lifetime']),
})

/** Rules §6.2, §6.6. `project` is checked separately: leaving it out is 422 `project_required`. */
export const newKeyBody = z
  .strictObject({
    project: id,
    name: label(100).default('Key'),
    policy: z.enum(['all-eligible', 'listed']).default('all-eligible'),
    resources: z.array(id).min(1).max(1000).optional(),
    limit: spendingLimit.nullable().default(null),
    tag: serviceTag
      .nullable()
      .default(null)
      .describe('what its calls are for, as usage and budgets count them; null: each call may name one'),
    rates: rateLimits.default(noRateLimits).describe('fixed for the life of the key and its replacements'),
    expiresInDays: z
      .int()
      .min(keyLimits.expiryDays.min)
      .max(keyLimits.expiryDays.max)
      .default(keyLimits.expiryDays.default),
  })
  .superRefine(({ policy, resources }, context) => {
    const problem = (message: string) => context.addIssue({ code: 'custom', path: ['resources'], message })
    if (policy === 'listed' && !resources) problem('is needed with the policy listed')
    if (policy === 'all-eligible' && resources) problem('only goes with the policy listed')
  })
  .meta({
    examples: [
      {
        project: exampleIds.project,
        name: 'Nightly summaries',
        limit: { micro: 20_000_000, reset: 'monthly' },
        expiresInDays: 90,
      },
    ],
  })

/** State of a spending window, for a key and its whole lineage. */
const keyWindow = z.strictObject({
  spentMicro: micro.describe('charged for calls admitted in this window'),
  reservedMicro: micro.describe('reserved for running calls in this window'),
  remainingMicro: micro.describe('max reservation of the next call'),
  startsAt: time.nullable().describe('null: lifetime limit'),
  resetsAt: time.nullable().describe('null: never'),
})
export type KeyWindow = z.infer<typeof keyWindow>

export const keyRecord = z
  .strictObject({
    id,
    name: z.string(),
    project: id.nullable().describe('null: a legacy key, which can never be bound'),
    prefix: z.string().describe('the first 12 characters of the secret'),
    state: keyState,
    policy: z.enum(['all-eligible', 'listed']),
    resources: z
      .array(id)
      .describe('the allowlist of a listed key; sbx-… for sandbox products that the reader cannot use'),
    limit: spendingLimit.nullable(),
    window: keyWindow.nullable().describe('the current window; null: the key has no limit'),
    tag: z.string().nullable().describe('of its calls; null: each call may name one'),
    rates: rateLimits,
    createdBy: id.describe('on whose authority it works'),
    createdAt: time,
    issuedBy: id.describe('who got its secret: the user who created it or rotated the key before, or that key itself'),
    expiresAt: time.nullable(),
    pausedAt: time.nullable().describe('null: not paused'),
    lastUsedAt: time.nullable(),
    rotatedFrom: id.nullable(),
    rotatedTo: id.nullable(),
    rotatedBy: id.nullable().describe('the user who replaced it, or its own id: it rotated itself'),
    rotatedAt: time.nullable(),
    graceUntil: time.nullable().describe('until when the old secret works after a rotation; null: no grace period'),
  })
  .meta({
    examples: [
      {
        id: exampleIds.key,
        name: 'Nightly summaries',
        project: exampleIds.project,
        prefix: 'svc_8Kq2ZtYb',
        state: 'Active',
        policy: 'all-eligible',
        resources: [],
        limit: { micro: 20_000_000, reset: 'monthly' },
        window: {
          spentMicro: 1_250,
          reservedMicro: 0,
          remainingMicro: 19_998_750,
          startsAt: '2026-11-01T00:00:00.000Z',
          resetsAt: '2026-12-01T00:00:00.000Z',
        },
        tag: 'nightly-summaries',
        rates: { requestsPerMinute: 600, tokensPerMinute: null, concurrentCalls: null },
        createdBy: exampleIds.user,
        createdAt: '2026-11-20T09:00:00.000Z',
        issuedBy: exampleIds.user,
        expiresAt: '2027-02-18T09:00:00.000Z',
        pausedAt: null,
        lastUsedAt: '2026-11-23T09:12:31.000Z',
        rotatedFrom: null,
        rotatedTo: null,
        rotatedBy: null,
        rotatedAt: null,
        graceUntil: null,
      },
    ],
  })
export type KeyRecord = z.infer<typeof keyRecord>

export const keyQuery = pageQuery
  .extend({
    ids,
    project: id.optional(),
    state: keyState.optional(),
    createdBy: id.optional(),
    expiresBefore: moment.optional().describe('only keys that expire before this time, ISO 8601'),
  })
  .meta({ examples: [{ project: exampleIds.project, state: 'Active', limit: 20 }] })
export const keyNameBody = z.strictObject({ name: label(100) }).meta({ examples: [{ name: 'Weekly summaries' }] })
export const rotateBody = z
  .strictObject({ graceSeconds: z.int().min(0).max(86_400).default(0) })
  .meta({ examples: [{ graceSeconds: 3_600 }] })

/** Secrets in one report. */
const MAX_REPORTED = 100

/** A secret that was found in public. Other fields are ignored: scanners may send more. */
const leakedSecret = z.object({
  token: z.string().min(1).max(1_000).describe('the secret: `svc_…`, `svu_…` or `svt_…`'),
  type: z.string().optional().describe('what the scanner calls it; not read'),
  url: z.string().nullish().describe('where it was found; its owner sees the first 500 characters'),
  source: z.string().nullish().describe('what kind of place that is, such as `commit`'),
})
export type LeakedSecret = z.infer<typeof leakedSecret>

/** The list that GitHub's secret scanning sends to its partners, or one secret. */
export const leakedSecretsBody = z.union([z.array(leakedSecret).min(1).max(MAX_REPORTED), leakedSecret]).meta({
  examples: [
    [
      {
        token: 'svc_shown-once',
        type: 'model_gateway_key',
        url: 'https://github.com/octo/repository/blob/main/.env',
        source: 'commit',
      },
    ],
  ],
})

export const receivedReport = z
  .strictObject({ received: z.int().describe('how many secrets were read; the same for known and unknown ones') })
  .meta({ examples: [{ received: 1 }] })
