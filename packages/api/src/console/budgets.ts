import { z } from 'zod'
import { exampleIds } from '../example-ids.ts'
import { keyLimits } from '../limits.ts'
import { serviceTag } from '../service-tag.ts'
import { id, micro, time } from './fields.ts'

const limitMicro = z.int().min(keyLimits.limitMicro.min).max(keyLimits.limitMicro.max)

/** Money §6.4. A budget that its subject has already gets the new limit. */
export const budgetBody = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('user'), subject: id, limitMicro, hard: z.boolean() }),
    z.strictObject({ kind: z.literal('team'), subject: id, limitMicro, hard: z.boolean() }),
    z.strictObject({ kind: z.literal('tag'), subject: serviceTag, limitMicro, hard: z.boolean() }),
  ])
  .meta({ examples: [{ kind: 'tag', subject: 'nightly-summaries', limitMicro: 50_000_000, hard: true }] })

export const budgetRecord = z
  .strictObject({
    id,
    kind: z.enum(['user', 'team', 'tag']),
    subject: z.string().describe('the ID of the user or team, or the tag'),
    limitMicro,
    hard: z.boolean().describe('whether calls beyond it are refused; otherwise it is only reported'),
    spentMicro: micro.describe('charged for calls admitted this month, since the budget was created'),
    reservedMicro: micro.describe('reserved for running calls of this month'),
    resetsAt: time,
    createdAt: time,
  })
  .meta({
    examples: [
      {
        id: exampleIds.budget,
        kind: 'tag',
        subject: 'nightly-summaries',
        limitMicro: 50_000_000,
        hard: true,
        spentMicro: 12_400_310,
        reservedMicro: 0,
        resetsAt: '2026-12-01T00:00:00.000Z',
        createdAt: '2026-11-02T09:00:00.000Z',
      },
    ],
  })
export type BudgetRecord = z.infer<typeof budgetRecord>
