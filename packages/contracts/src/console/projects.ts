import { z } from 'zod'
import { id, label, named, time } from './fields.ts'
import { memberRecord } from './people.ts'
import { projectRole } from './roles.ts'

export const newProjectBody = z.strictObject({ name: label(100), team: id.optional() })
export const projectRecord = named.extend({ team: id, createdAt: time })
export type ProjectRecord = z.infer<typeof projectRecord>

export const newGrantBody = z.strictObject({ person: id, role: projectRole })
export const grantRecord = memberRecord.extend({ role: projectRole })
export type GrantRecord = z.infer<typeof grantRecord>

export const assignmentRecord = z.strictObject({ product: id, createdBy: id.nullable(), createdAt: time })
export type AssignmentRecord = z.infer<typeof assignmentRecord>
