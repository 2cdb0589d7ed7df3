import { z } from 'zod'
import { exampleIds, exampleValues } from '../example-ids.ts'
import { flowLimits } from '../limits.ts'
import { rateLimits } from '../rates.ts'
import { id, label, named, projectRole, time } from './fields.ts'
import { userWithRole } from './users.ts'

export const newProjectBody = z
  .strictObject({ name: label(100), team: id.optional() })
  .meta({ examples: [{ name: 'Summaries', team: exampleIds.team }] })
const { min, max } = flowLimits.assetRetentionDays
const assetRetentionDays = z
  .int()
  .min(min)
  .max(max)
  .nullable()
  .describe('days after which assets are deleted; null: never')
const keySelfRotation = z.boolean().describe('whether keys of the project may rotate themselves')
export const projectPatch = z
  .strictObject({ assetRetentionDays, rates: rateLimits, keySelfRotation })
  .partial()
  .meta({
    examples: [
      { assetRetentionDays: 30, rates: { requestsPerMinute: 3_000, tokensPerMinute: 500_000, concurrentCalls: 50 } },
    ],
  })
export const projectRecord = named
  .extend({ team: id, createdAt: time, assetRetentionDays, rates: rateLimits, keySelfRotation })
  .meta({
    examples: [
      {
        id: exampleIds.project,
        name: 'Summaries',
        team: exampleIds.team,
        createdAt: '2026-11-20T09:00:00.000Z',
        assetRetentionDays: 30,
        rates: { requestsPerMinute: 3_000, tokensPerMinute: 500_000, concurrentCalls: 50 },
        keySelfRotation: true,
      },
    ],
  })
export type ProjectRecord = z.infer<typeof projectRecord>

export const newGrantBody = z
  .strictObject({ user: id, role: projectRole })
  .meta({ examples: [{ user: exampleIds.user, role: 'Project Consumer' }] })
export const grantRecord = userWithRole.extend({ role: projectRole }).meta({
  examples: [
    {
      id: exampleIds.user,
      email: exampleValues.email,
      name: 'Ada',
      role: 'Project Consumer',
      createdAt: '2026-11-20T09:00:00.000Z',
    },
  ],
})
export type GrantRecord = z.infer<typeof grantRecord>

export const assignmentRecord = z.strictObject({ product: id, createdBy: id.nullable(), createdAt: time }).meta({
  examples: [{ product: exampleIds.product, createdBy: exampleIds.user, createdAt: '2026-11-20T09:00:00.000Z' }],
})
export type AssignmentRecord = z.infer<typeof assignmentRecord>
