import { z } from 'zod'
import { flowLimits } from '../limits.ts'
import { id, label, named, time } from './fields.ts'
import { memberRecord } from './people.ts'
import { projectRole } from './roles.ts'

export const newProjectBody = z.strictObject({ name: label(100), team: id.optional() })
const { min, max } = flowLimits.assetRetentionDays
const assetRetentionDays = z
  .int()
  .min(min)
  .max(max)
  .nullable()
  .describe('after how many days its assets are deleted; null: never')
export const projectPatch = z
  .strictObject({ assetRetentionDays })
  .partial()
  .meta({ examples: [{ assetRetentionDays: 30 }] })
export const projectRecord = named.extend({ team: id, createdAt: time, assetRetentionDays })
export type ProjectRecord = z.infer<typeof projectRecord>

export const newGrantBody = z.strictObject({ person: id, role: projectRole })
export const grantRecord = memberRecord.extend({ role: projectRole })
export type GrantRecord = z.infer<typeof grantRecord>

export const assignmentRecord = z.strictObject({ product: id, createdBy: id.nullable(), createdAt: time })
export type AssignmentRecord = z.infer<typeof assignmentRecord>
