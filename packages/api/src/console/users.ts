import { z } from 'zod'
import { exampleIds, exampleValues } from '../example-ids.ts'
import { id, label, named, teamRole, tenantRole, time } from './fields.ts'
import { pageQuery } from './page.ts'
import { email, password } from './sign-in.ts'

export const newTenantBody = z.strictObject({ name: label(100) }).meta({ examples: [{ name: 'Acme' }] })
export const tenantPatch = z
  .strictObject({ requireSecondFactor: z.boolean() })
  .meta({ examples: [{ requireSecondFactor: false }] })
export const tenantRecord = named
  .extend({
    requireSecondFactor: z.boolean().describe('whether members can do nothing in it without a second factor'),
    createdAt: time,
  })
  .meta({
    examples: [
      {
        id: exampleIds.tenant,
        name: 'Acme',
        requireSecondFactor: false,
        createdAt: '2026-11-20T09:00:00.000Z',
      },
    ],
  })
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
/** A user with a role in an organization, a team or a project. */
export const userWithRole = z.strictObject({
  id: id.describe('of the user'),
  email: z.string(),
  name: z.string(),
  role: tenantRole,
  createdAt: time,
})
export const memberRecord = userWithRole
  .extend({
    suspendedAt: time.nullable().describe('null: the membership is in effect'),
    secondFactor: z.boolean().nullable().describe('whether the user has one; null: only Admins see it'),
  })
  .meta({ examples: [{ ...member, role: 'Admin', suspendedAt: null, secondFactor: true }] })
export type MemberRecord = z.infer<typeof memberRecord>

export const newTeamBody = z.strictObject({ name: label(100) }).meta({ examples: [{ name: 'Search' }] })
export const teamRecord = named
  .extend({ createdAt: time })
  .meta({ examples: [{ id: exampleIds.team, name: 'Search', createdAt: '2026-11-20T09:00:00.000Z' }] })
export type TeamRecord = z.infer<typeof teamRecord>

export const newTeamMemberBody = z
  .strictObject({ user: id, role: teamRole.default('Team Member') })
  .meta({ examples: [{ user: exampleIds.user, role: 'Team Owner' }] })
export const teamMemberRecord = userWithRole
  .extend({ role: teamRole })
  .meta({ examples: [{ ...member, role: 'Team Owner' }] })
export type TeamMemberRecord = z.infer<typeof teamMemberRecord>

/** A user of the installation, as platform operators see them. */
export const userRecord = z
  .strictObject({
    id,
    email: z.string(),
    name: z.string(),
    platformOperator: z.boolean(),
    disabledAt: time.nullable().describe('null: the user may sign in'),
    secondFactor: z.boolean(),
    createdAt: time,
  })
  .meta({ examples: [{ ...member, platformOperator: true, disabledAt: null, secondFactor: true }] })
export type UserRecord = z.infer<typeof userRecord>

export const userQuery = pageQuery
  .extend({ email: email.optional().describe('only the user with this address') })
  .meta({ examples: [{ email: exampleValues.email }] })
export const newOperatorBody = z.strictObject({ user: id }).meta({ examples: [{ user: exampleIds.user }] })
