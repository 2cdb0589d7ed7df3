import { z } from 'zod'
import { exampleIds } from '../example-ids.ts'
import { id, label, time } from './fields.ts'

// Service tokens of an organization or a project, for programs. A token may do what its permissions list, in its own
// scope only, and nothing that grants access: it creates no tokens or keys and assigns no roles (rules §7.3).

/** Permissions that a token of an organization may list. It has the role Admin. */
export const tenantTokenPermission = z.enum([
  'users.read',
  'teams.read',
  'audit.read',
  'projects.read',
  'projects.manage',
  'assignments.read',
  'assignments.manage',
  'grants.read',
  'keys.manage',
])

/** Permissions that a token of a project may list. It has the role Project Owner. */
export const projectTokenPermission = z.enum([
  'projects.read',
  'projects.change',
  'assignments.read',
  'grants.read',
  'keys.manage',
  'usage.read',
  'wallet.read',
  'sandboxes.use',
])
export const tokenPermission = z.enum([
  ...new Set([...tenantTokenPermission.options, ...projectTokenPermission.options]),
])
export type TokenPermission = z.infer<typeof tokenPermission>

const newToken = <Permission extends z.ZodType>(permission: Permission) =>
  z.strictObject({
    name: label(100),
    permissions: z.array(permission).min(1).max(50),
    expiresInDays: z.int().min(1).max(365).default(90),
  })
export const newTenantTokenBody = newToken(tenantTokenPermission).meta({
  examples: [{ name: 'Nightly report', permissions: ['audit.read', 'projects.read'], expiresInDays: 90 }],
})
export const newProjectTokenBody = newToken(projectTokenPermission).meta({
  examples: [{ name: 'CI', permissions: ['sandboxes.use', 'usage.read'], expiresInDays: 30 }],
})

export const accessTokenRecord = z
  .strictObject({
    id: id.describe('starts with atk_; the actor of its actions in the audit log'),
    name: z.string(),
    prefix: z.string().describe('the first 12 characters of the secret'),
    project: id.nullable().describe('null: the whole organization'),
    permissions: z.array(z.string()),
    createdBy: id,
    createdAt: time,
    expiresAt: time,
  })
  .meta({
    examples: [
      {
        id: exampleIds.accessToken,
        name: 'CI',
        prefix: 'svt_8Kq2ZtYb',
        project: exampleIds.project,
        permissions: ['sandboxes.use', 'usage.read'],
        createdBy: exampleIds.user,
        createdAt: '2026-11-23T09:00:00.000Z',
        expiresAt: '2026-12-23T09:00:00.000Z',
      },
    ],
  })
export type AccessTokenRecord = z.infer<typeof accessTokenRecord>
