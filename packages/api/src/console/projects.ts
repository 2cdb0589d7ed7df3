import { z } from 'zod'
import { exampleIds, exampleValues } from '../example-ids.ts'
import { flowLimits } from '../limits.ts'
import { rateLimits } from '../rates.ts'
import { captureSettings } from './capture.ts'
import { id, label, named, projectRole, time } from './fields.ts'
import { ids, pageQuery } from './page.ts'
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
const capture = captureSettings
  .nullable()
  .describe('how prompts and answers are captured; null: they are not, and what was captured is deleted')
export const projectPatch = z
  .strictObject({ assetRetentionDays, rates: rateLimits, keySelfRotation, capture })
  .partial()
  .meta({
    examples: [
      {
        assetRetentionDays: 30,
        rates: { requestsPerMinute: 3_000, tokensPerMinute: 500_000, concurrentCalls: 50 },
        capture: { retentionDays: 7, hide: ['email'], patterns: ['CUST-[0-9]+'] },
      },
    ],
  })
export const projectRecord = named
  .extend({ team: id, createdAt: time, assetRetentionDays, rates: rateLimits, keySelfRotation, capture })
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
        capture: null,
      },
    ],
  })
export type ProjectRecord = z.infer<typeof projectRecord>
export const projectQuery = pageQuery.extend({ ids }).meta({ examples: [{ ids: exampleIds.project }] })

const readsContent = z.boolean().describe('whether the user may read captured prompts and answers')
export const newGrantBody = z
  .strictObject({ user: id, role: projectRole, readsContent: readsContent.optional() })
  .meta({ examples: [{ user: exampleIds.user, role: 'Project Consumer' }] })
export const grantRecord = userWithRole.extend({ role: projectRole, readsContent }).meta({
  examples: [
    {
      id: exampleIds.user,
      email: exampleValues.email,
      name: 'Ada',
      role: 'Project Consumer',
      readsContent: false,
      createdAt: '2026-11-20T09:00:00.000Z',
    },
  ],
})
export type GrantRecord = z.infer<typeof grantRecord>

export const assignmentRecord = z.strictObject({ product: id, createdBy: id.nullable(), createdAt: time }).meta({
  examples: [{ product: exampleIds.product, createdBy: exampleIds.user, createdAt: '2026-11-20T09:00:00.000Z' }],
})
export type AssignmentRecord = z.infer<typeof assignmentRecord>
