import { z } from 'zod'
import { providerTry } from '../chat-answer.ts'
import { exampleIds, exampleValues } from '../example-ids.ts'
import { usageCounts, type UsageCount } from '@gateway/pricing/usage'
import { id, label, micro, moment, time } from './fields.ts'
import { pageOf, timedQuery } from './page.ts'
import { productPricing } from './products.ts'
import { format } from './statement.ts'

export const walletShape = z
  .strictObject({
    fundedMicro: micro,
    reservedMicro: micro,
    settledMicro: micro,
    availableMicro: micro,
  })
  .meta({
    examples: [{ fundedMicro: 5_000_000, reservedMicro: 308, settledMicro: 1_250, availableMicro: 4_998_442 }],
  })

const entryId = z.string().regex(/^[\x21-\x7e]{1,128}$/, 'must be 1 to 128 visible ASCII characters')
export const fundingBody = z
  .strictObject({
    fundingId: entryId,
    micro: z.int().min(1).max(Number.MAX_SAFE_INTEGER),
  })
  .meta({ examples: [{ fundingId: exampleValues.fundingId, micro: 5_000_000 }] })
export const correctionBody = z
  .strictObject({
    correctionId: entryId,
    micro: micro.refine((amount) => amount !== 0, 'must not be 0').describe('positive: credit; negative: debit'),
    reason: label(500).describe('reason, for the audit log'),
  })
  .meta({
    examples: [{ correctionId: exampleValues.correctionId, micro: -500, reason: 'A funding that came in twice.' }],
  })

const day = 86_400_000
export const usageQuery = z
  .strictObject({
    from: moment.optional().describe('rounded down to the hour'),
    to: moment.optional().describe('rounded up to the hour'),
    by: z
      .enum(['model', 'key', 'user', 'sandbox', 'tag', 'day'])
      .default('model')
      .describe('user: who created the key, or started the execution in the console'),
    step: z
      .enum(['hour', 'day'])
      .optional()
      .describe('interval of the rows: one row per interval and group; from and to are extended to whole intervals'),
    zone: z
      .string()
      .max(64)
      .optional()
      .describe('time zone of the hours or days: a name of the IANA database, such as Europe/Berlin; UTC by default'),
    include: z.literal('latency').optional().describe('durations and times to first token as well'),
    group: label(256).optional().describe('only this group: its model, key, user or sandbox ID, or its tag'),
    top: z.coerce
      .number()
      .int()
      .min(1)
      .max(100)
      .optional()
      .describe('data contains only this many groups, those with the most by order, and calls without a group'),
    order: z.enum(['spend', 'calls', 'tokens', 'errors']).optional().describe('of the groups; spend by default'),
    format,
  })
  .refine(({ from, to }) => !from || !to || (from < to && to.getTime() - from.getTime() <= 400 * day), {
    path: ['from'],
    error: 'must be before to, by at most 400 days',
  })
  .refine(({ by, step }) => by !== 'day' || !step, { path: ['step'], error: 'does not go with by=day' })
  .refine(({ by, include }) => by !== 'day' || !include, { path: ['include'], error: 'does not go with by=day' })
  .refine(({ step, zone }) => step || !zone, { path: ['zone'], error: 'goes with a step' })
  .refine(({ top, order }) => top || !order, { path: ['order'], error: 'goes with top' })
  .refine(({ by, top }) => by !== 'day' || !top, { path: ['top'], error: 'does not go with by=day' })
  .refine(({ by, group }) => by !== 'day' || !group, { path: ['group'], error: 'does not go with by=day' })
  .refine(({ top, group }) => !group || !top, { path: ['top'], error: 'does not go with a group' })
  .refine(({ top, format }) => !top || format !== 'csv', { path: ['top'], error: 'does not go with format=csv' })
  .meta({
    examples: [{ from: exampleValues.from, to: exampleValues.to, by: 'model', step: 'day', zone: 'Europe/Berlin' }],
  })

const percentile = z.int().nullable()

/** How long calls took that were charged. */
const percentiles = {
  latencyP50Ms: percentile.describe('from admission to charge; null: no calls'),
  latencyP95Ms: percentile,
  firstTokenP50Ms: percentile.describe('from admission to the first chunk of a stream; null: no streamed calls'),
  firstTokenP95Ms: percentile,
}
export type Percentiles = z.infer<z.ZodObject<typeof percentiles>>

const usageFigures = {
  calls: z.int().describe('charged calls'),
  promptTokens: z.int(),
  completionTokens: z.int(),
  chargedMicro: micro,
  errors: z.int().describe('calls that were released instead of charged, except those that were made again'),
  ...z.strictObject(percentiles).partial().shape,
}
export type UsageFigures = z.infer<z.ZodObject<typeof usageFigures>>

const stepTime = z
  .string()
  .describe('with a step: start of the interval, in local time of the zone')
  .meta({ examples: ['2026-11-20T00:00:00+01:00'] })
const group = z
  .string()
  .nullable()
  .describe(
    'a model ID, a key ID, a user ID, a sandbox ID, a tag or a day such as 2026-11-20; null: without a key, sandbox or tag',
  )

const exampleFigures = { calls: 12, promptTokens: 1_204, completionTokens: 640, chargedMicro: 1_250, errors: 1 }

export const usageReport = z
  .strictObject({
    from: time.describe('ISO 8601, UTC; a whole hour, or the start of a step'),
    to: time.describe('ISO 8601, UTC; a whole hour, or the end of a step'),
    by: z.enum(['model', 'key', 'user', 'sandbox', 'tag', 'day']),
    step: z.enum(['hour', 'day']).exactOptional().describe('if requested'),
    zone: z.string().exactOptional().describe('with a step'),
    data: z
      .array(z.strictObject({ time: stepTime.exactOptional(), group, ...usageFigures }))
      .describe('percentiles, if requested, are within 5 %, then rounded to a millisecond'),
    steps: z
      .array(z.strictObject({ time: stepTime, ...usageFigures }))
      .exactOptional()
      .describe('with a step: of all groups'),
    groups: z
      .array(z.strictObject({ group, ...usageFigures }))
      .exactOptional()
      .describe('with a step: of the whole period; with top, the first 100 by order'),
    groupCount: z.int().describe('number of groups in the period'),
    total: z.strictObject(usageFigures).describe('of all groups and steps'),
  })
  .meta({
    examples: [
      {
        from: '2026-10-31T23:00:00.000Z',
        to: '2026-12-01T23:00:00.000Z',
        by: 'model',
        step: 'day',
        zone: 'Europe/Berlin',
        data: [
          {
            time: '2026-11-20T00:00:00+01:00',
            group: exampleIds.product,
            ...exampleFigures,
          },
        ],
        steps: [{ time: '2026-11-20T00:00:00+01:00', ...exampleFigures }],
        groups: [{ group: exampleIds.product, ...exampleFigures }],
        groupCount: 1,
        total: exampleFigures,
      },
    ],
  })
export type UsageReport = z.infer<typeof usageReport>

const count = z.int().nullable()
const counts = Object.fromEntries(usageCounts.map((field) => [field, count])) as Record<UsageCount, typeof count>

const callState = z.enum(['Open', 'Settled', 'Released'])

/** Why a call was released uncharged, as its project sees it. */
const releaseReason = z.enum([
  'provider_failed',
  'rate_limited',
  'instance_ended',
  'handed_back',
  'node_failed',
  'execution_over',
  'not_answered',
  'not_sent',
  'failed',
])
export type ReleaseReason = z.infer<typeof releaseReason>

export const invocationQuery = timedQuery({
  key: id.optional(),
  model: id.optional(),
  state: callState.optional(),
  execution: id.optional().describe('finds nothing for users who cannot see executions'),
  order: z
    .literal('cost')
    .optional()
    .describe('most expensive first: the charged calls of at most 31 days, on one page'),
  include: z.literal('latency').optional().describe('percentiles of the matching calls'),
})
  .refine(({ order, from, to }) => !order || (from && to && to.getTime() - from.getTime() <= 31 * day), {
    path: ['order'],
    error: 'goes with from and to, at most 31 days apart',
  })
  .refine(({ order, cursor }) => !order || !cursor, { path: ['cursor'], error: 'does not go with an order' })
  .meta({
    examples: [
      { model: exampleIds.product, state: 'Settled', from: exampleValues.from, to: exampleValues.to, limit: 20 },
    ],
  })

export const invocationRecord = z
  .strictObject({
    id,
    key: id.nullable().describe('null: a user ran a sandbox product in the console'),
    model: id,
    execution: id.nullable().describe('the execution that made the call'),
    node: id.nullable().describe('the node of its graph'),
    state: callState,
    ...counts,
    estimated: z.boolean(),
    pricing: productPricing.describe('prices at the admission of the call'),
    reservedMicro: micro,
    chargedMicro: micro,
    createdAt: time.describe('time of admission; ISO 8601, UTC'),
    closedAt: time.nullable().describe('time it was charged or released; null: open'),
    durationMs: z.int().nullable().describe('from admission to close'),
    reason: releaseReason.nullable().describe('reason for its release; null: not released'),
    firstTokenMs: z
      .int()
      .nullable()
      .describe('from admission to the first chunk of a streamed response; null: not streamed, or not recorded'),
    tries: z
      .array(
        z.strictObject({
          ...providerTry.shape,
          provider: providerTry.shape.provider.nullable().describe('only for platform operators'),
        }),
      )
      .nullable()
      .describe('tries to get a response to the model, in order; null: not recorded'),
  })
  .meta({
    examples: [
      {
        id: exampleIds.invocation,
        key: exampleIds.key,
        model: exampleIds.product,
        execution: null,
        node: null,
        state: 'Settled',
        promptTokens: 100,
        completionTokens: 53,
        cachedTokens: 0,
        cacheWriteTokens: 0,
        reasoningTokens: 0,
        estimated: false,
        pricing: { unit: 'tokens', prompt: '0.00000015', completion: '0.0000006' },
        reservedMicro: 308,
        chargedMicro: 47,
        createdAt: '2026-11-20T10:00:00.125Z',
        closedAt: '2026-11-20T10:00:01.250Z',
        durationMs: 1_125,
        reason: null,
        firstTokenMs: 240,
        tries: [{ provider: null, startMs: 1, endMs: 1_120, outcome: 'answered' }],
      },
    ],
  })
export type InvocationRecord = z.infer<typeof invocationRecord>

export const invocationPage = pageOf(invocationRecord).extend({
  latency: z
    .strictObject({ calls: z.int().describe('number of calls that the percentiles are of'), ...percentiles })
    .exactOptional()
    .describe('if requested: exact percentiles of the charged calls among the newest 5,000 calls read'),
  archivedBefore: z.iso
    .date()
    .exactOptional()
    .describe('if the period begins earlier: calls admitted before this day, UTC, are archived and not listed'),
})
export type CallLatency = NonNullable<z.infer<typeof invocationPage>['latency']>
