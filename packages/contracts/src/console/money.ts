import { z } from 'zod'
import { usageCounts, type UsageCount } from '../usage.ts'
import { releaseReason } from '../release-reason.ts'
import { id, label, micro, moment, time } from './fields.ts'
import { timedQuery } from './page.ts'
import { productPricing } from './products.ts'
import { format } from './statement.ts'

export const walletShape = z.strictObject({
  fundedMicro: micro,
  reservedMicro: micro,
  settledMicro: micro,
  availableMicro: micro,
})

const entryId = z.string().regex(/^[\x21-\x7e]{1,128}$/, 'must be 1 to 128 visible ASCII characters')
export const fundingBody = z.strictObject({
  fundingId: entryId,
  micro: z.int().min(1).max(Number.MAX_SAFE_INTEGER),
})
export const correctionBody = z.strictObject({
  correctionId: entryId,
  micro: micro.refine((amount) => amount !== 0, 'must not be 0').describe('less than 0 takes money out of the wallet'),
  reason: label(500).describe('why, for the audit'),
})

const day = 86_400_000
export const usageQuery = z
  .strictObject({
    from: moment.optional().describe('goes back to the beginning of its hour'),
    to: moment.optional().describe('goes on to the end of its hour'),
    by: z.enum(['model', 'key', 'sandbox', 'day']).default('model'),
    step: z
      .enum(['hour', 'day'])
      .optional()
      .describe('divides the time: a row for each step and group; from and to then go to the bounds of their steps'),
    zone: z
      .string()
      .max(64)
      .optional()
      .describe('whose hours or days: a name of the IANA time zone database; UTC by default')
      .meta({ examples: ['Europe/Berlin'] }),
    format,
  })
  .refine(({ from, to }) => !from || !to || (from < to && to.getTime() - from.getTime() <= 400 * day), {
    path: ['from'],
    error: 'must be before to, by at most 400 days',
  })
  .refine(({ by, step }) => by !== 'day' || !step, { path: ['step'], error: 'does not go with by=day' })
  .refine(({ step, zone }) => step || !zone, { path: ['zone'], error: 'goes with a step' })

export const usageReport = z.strictObject({
  from: time.describe('ISO 8601, UTC; a whole hour, or the beginning of a step'),
  to: time.describe('ISO 8601, UTC; a whole hour, or the end of a step'),
  by: z.enum(['model', 'key', 'sandbox', 'day']),
  step: z.enum(['hour', 'day']).exactOptional().describe('where one was asked for'),
  zone: z.string().exactOptional().describe('with a step'),
  data: z.array(
    z.strictObject({
      time: z
        .string()
        .exactOptional()
        .describe('with a step: when it begins, as the clocks of the zone show it')
        .meta({ examples: ['2026-11-20T00:00:00+01:00'] }),
      group: z
        .string()
        .nullable()
        .describe('a model id, a key id, a sandbox id or a day such as 2026-11-20; null: by no key, or by no sandbox'),
      calls: z.int(),
      promptTokens: z.int(),
      completionTokens: z.int(),
      chargedMicro: micro,
    }),
  ),
  totalMicro: micro,
})
export type UsageReport = z.infer<typeof usageReport>

const count = z.int().nullable()
const counts = Object.fromEntries(usageCounts.map((field) => [field, count])) as Record<UsageCount, typeof count>

const callState = z.enum(['Open', 'Settled', 'Released'])

export const invocationQuery = timedQuery({
  key: id.optional(),
  model: id.optional(),
  state: callState.optional(),
  execution: id.optional().describe('finds nothing for whoever may not see executions'),
})

export const invocationRecord = z.strictObject({
  id,
  key: id.nullable().describe('null: a person runs a sandbox product in the console'),
  model: id,
  execution: id.nullable().describe('the execution that made the call'),
  node: id.nullable().describe('the node of its graph'),
  state: callState,
  ...counts,
  estimated: z.boolean(),
  pricing: productPricing.describe('as it was when the call was admitted'),
  reservedMicro: micro,
  chargedMicro: micro,
  createdAt: time.describe('when it was admitted; ISO 8601, UTC'),
  closedAt: time.nullable().describe('when it was charged or released; null: it is open'),
  durationMs: z.int().nullable().describe('from its admission until it was closed'),
  reason: releaseReason.nullable().describe('why it was released; null: it was not'),
})
export type InvocationRecord = z.infer<typeof invocationRecord>
