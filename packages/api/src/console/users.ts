import { z } from 'zod'
import { exampleIds, exampleValues } from '../example-ids.ts'
import { id, label, named, teamRole, tenantRole, time } from './fields.ts'
import { email, password } from './sign-in.ts'

export const newTenantBody = z.strictObject({ name: label(100) }).meta({ examples: [{ name: 'Acme' }] })
export const tenantRecord = named
  .extend({ createdAt: time })
  .meta({ examples: [{ id: exampleIds.tenant, name: 'Acme', createdAt: '2026-11-20T09:00:00.000Z' }] })
export type TenantRecord = z.infer<typeof tenantRecord>

/** Names a user by email or id; `name` and `password` are for a user who has no account yet. */
export const newMemberBody = z
  .strictObject({
    email: email.optional(),
    user: id.optional(),
    role: tenantRole.default('Member'),
    name: label(100).optional(),
    password: password.optional(),
  })
  .superRefine(({ email, user, name, password }, context) => {
    const problem = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message })
    if (email === undefined && user === undefined) problem('email', 'is needed')
    if (user === undefined) return
    for (const [field, value] of Object.entries({ email, name, password }))
      if (value !== undefined) problem(field, 'does not go with user')
  })
  .meta({ examples: [{ email: exampleValues.newEmail, name: 'Grace', role: 'Member' }] })
const member = {
  id: exampleIds.user,
  email: exampleValues.email,
  name: 'Ada',
  createdAt: '2026-11-20T09:00:00.000Z',
}
export const memberRecord = z
  .strictObject({
    id: id.describe('of the user'),
    email: z.string(),
    name: z.string(),
    role: tenantRole,
    createdAt: time,
  })
  .meta({ examples: [{ ...member, role: 'Admin' }] })
export type MemberRecord = z.infer<typeof memberRecord>

export const newTeamBody = z.strictObject({ name: label(100) }).meta({ examples: [{ name: 'Search' }] })
export const teamRecord = named
  .extend({ createdAt: time })
  .meta({ examples: [{ id: exampleIds.team, name: 'Search', createdAt: '2026-11-20T09:00:00.000Z' }] })
export type TeamRecord = z.infer<typeof teamRecord>

export const newTeamMemberBody = z
  .strictObject({ user: id, role: teamRole.default('Team Member') })
  .meta({ examples: [{ user: exampleIds.user, role: 'Team Owner' }] })
export const teamMemberRecord = memberRecord
  .extend({ role: teamRole })
  .meta({ examples: [{ ...member, role: 'Team Owner' }] })
export type TeamMemberRecord = z.infer<typeof teamMemberRecord>
