import { z } from 'zod'
import { exampleIds } from '../example-ids.ts'
import { id, moment, time } from './fields.ts'

const HOUR_MS = 3_600_000
const MAX_DAYS = 31

export const refusalQuery = z
  .strictObject({
    from: moment.optional().describe('rounded down to the hour; by default a day before `to`'),
    to: moment.optional().describe('rounded up to the hour; by default now'),
    by: z.enum(['code', 'key']).default('code'),
    step: z.enum(['hour', 'none']).default('hour').describe('none: one row per group, without its hours'),
  })
  .refine(({ from, to }) => !from || !to || (from < to && to.getTime() - from.getTime() <= MAX_DAYS * 24 * HOUR_MS), {
    path: ['from'],
    error: `must be before to, by at most ${MAX_DAYS} days`,
  })
  .meta({ examples: [{ by: 'code' }] })

export const refusalCounts = z
  .strictObject({
    from: time.describe('ISO 8601, UTC; a whole hour'),
    to: time.describe('ISO 8601, UTC; a whole hour'),
    by: z.enum(['code', 'key']),
    data: z.array(
      z.strictObject({
        hour: time.describe('start of the hour; with step=none, of the latest one'),
        group: z.string().describe('a refusal code, or a key ID'),
        count: z.int(),
      }),
    ),
    total: z.int(),
  })
  .meta({
    examples: [
      {
        from: '2026-11-20T09:00:00.000Z',
        to: '2026-11-20T11:00:00.000Z',
        by: 'code',
        data: [{ hour: '2026-11-20T09:00:00.000Z', group: 'insufficient_budget', count: 12 }],
        total: 12,
      },
    ],
  })
export type RefusalCounts = z.infer<typeof refusalCounts>

export const latestRefusals = z
  .strictObject({
    data: z
      .array(
        z.strictObject({
          at: time,
          key: id,
          model: z
            .string()
            .nullable()
            .describe('as named by the caller; null: not read, or a sandbox product that the reader cannot see'),
          code: z.string(),
          status: z.int().describe('HTTP status of the response'),
          requestId: id.describe('`X-Request-Id` of the response'),
        }),
      )
      .max(100),
  })
  .meta({
    examples: [
      {
        data: [
          {
            at: '2026-11-20T09:12:31.250Z',
            key: exampleIds.key,
            model: exampleIds.product,
            code: 'insufficient_budget',
            status: 402,
            requestId: 'req_example',
          },
        ],
      },
    ],
  })
export type LatestRefusals = z.infer<typeof latestRefusals>
