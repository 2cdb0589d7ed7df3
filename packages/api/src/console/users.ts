import { z } from 'zod'
import { exampleIds, exampleValues } from '../example-ids.ts'
import { id, label, named, teamRole, tenantRole, time } from './fields.ts'
import { pageQuery } from './page.ts'
import { email, linkSecret, linkSecretExample, password } from './sign-in.ts'

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

export const memberPatch = z.strictObject({ role: tenantRole }).meta({ examples: [{ role: 'Member' }] })
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

export const newInvitationBody = z
  .strictObject({ email, role: tenantRole.default('Member') })
  .meta({ examples: [{ email: exampleValues.newEmail, role: 'Member' }] })
const invitation = { email: exampleValues.newEmail, role: 'Member', expiresAt: '2026-11-23T09:00:00.000Z' }
export const invitationRecord = z
  .strictObject({
    id,
    email: z.string(),
    role: tenantRole,
    invitedBy: id,
    delivery: z
      .enum(['link', 'pending', 'sent', 'failed'])
      .describe(
        'link: the Admin hands the link over; pending: the mail is not sent yet; sent: it is; failed: the mail server took it at none of eight tries',
      ),
    createdAt: time.describe('of the newest link'),
    expiresAt: time,
  })
  .meta({
    examples: [
      {
        id: exampleIds.invitation,
        ...invitation,
        invitedBy: exampleIds.user,
        delivery: 'sent',
        createdAt: '2026-11-20T09:00:00.000Z',
      },
    ],
  })
export type InvitationRecord = z.infer<typeof invitationRecord>

/** A link of the console; its fragment is a secret that no server log has. */
const oneTimeLink = z
  .string()
  .meta({ examples: [`https://gateway.example.com/console/invitation#${linkSecretExample}`] })
export const createdInvitation = z.strictObject({
  invitation: invitationRecord,
  link: oneTimeLink
    .nullable()
    .describe('shown this once, to be handed over; without a host if the operator names none. null: it goes by mail'),
  resolution: z.string().optional().describe('where a repeat has no link: how to get another'),
})

/** The secret in the link of an invitation. */
export const invitationSecretBody = z
  .strictObject({ secret: linkSecret })
  .meta({ examples: [{ secret: linkSecretExample }] })
export const openInvitation = z
  .strictObject({ organization: z.string(), email: z.string(), role: tenantRole, expiresAt: time })
  .meta({ examples: [{ organization: 'Acme', ...invitation }] })
export type OpenInvitation = z.infer<typeof openInvitation>
/** What a new user chooses. */
export const acceptInvitationBody = z
  .strictObject({ secret: linkSecret, name: label(100), password })
  .meta({ examples: [{ secret: linkSecretExample, name: 'Grace', password: exampleValues.password }] })

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
    emailVerified: z
      .boolean()
      .describe(
        'false: the user came by a link that an Admin handed over, and neither a mail nor single sign-on has verified the address',
      ),
    platformOperator: z.boolean(),
    disabledAt: time.nullable().describe('null: the user may sign in'),
    secondFactor: z.boolean(),
    createdAt: time,
  })
  .meta({
    examples: [{ ...member, emailVerified: true, platformOperator: true, disabledAt: null, secondFactor: true }],
  })
export type UserRecord = z.infer<typeof userRecord>

export const userQuery = pageQuery
  .extend({ email: email.optional().describe('only the user with this address') })
  .meta({ examples: [{ email: exampleValues.email }] })
export const newOperatorBody = z
  .strictObject({
    user: id,
    emailVerified: z
      .boolean()
      .default(true)
      .describe('false: make them an operator even though their address is not verified; who controls it is unknown'),
  })
  .meta({ examples: [{ user: exampleIds.user }] })

export const appointmentRecord = z
  .strictObject({
    project: id,
    projectName: z.string(),
    tenant: id,
    tenantName: z.string(),
    user: id.describe('who becomes the Project Owner'),
    userName: z.string(),
    appointedBy: id,
    appointedByName: z.string(),
    createdAt: time,
    effectiveAt: time.describe('when the user becomes the Project Owner'),
    objectedBy: id.nullable().describe('then only a platform operator appoints an owner'),
    objectedAt: time.nullable(),
  })
  .meta({
    examples: [
      {
        project: exampleIds.project,
        projectName: 'Summaries',
        tenant: exampleIds.tenant,
        tenantName: 'Acme',
        user: exampleIds.user,
        userName: 'Ada',
        appointedBy: exampleIds.user,
        appointedByName: 'Ada',
        createdAt: '2026-11-20T09:00:00.000Z',
        effectiveAt: '2026-11-23T09:00:00.000Z',
        objectedBy: null,
        objectedAt: null,
      },
    ],
  })
export type AppointmentRecord = z.infer<typeof appointmentRecord>

// What lives on when a member leaves, and how it is ended.

const kinds = ['keys', 'tokens', 'webhooks'] as const
export type LeftKind = (typeof kinds)[number]

const anyKind = `(${kinds.join('|')})`
export const removalQuery = z
  .strictObject({
    end: z
      .string()
      .regex(new RegExp(`^${anyKind}(,${anyKind})*$`), `must be a list of ${kinds.join(', ')}, separated by commas`)
      .optional()
      .describe('what the member made in the organization and is to end: keys, tokens, webhooks'),
  })
  .meta({ examples: [{ end: 'keys,tokens' }] })

/** Kinds that a query names. */
export function endedKinds(end: string | undefined): ReadonlySet<LeftKind> {
  return new Set((end?.split(',') ?? []) as LeftKind[])
}

const counts = z.strictObject({ keys: z.int(), tokens: z.int(), webhooks: z.int() })
export const removalRecord = z
  .strictObject({
    ended: counts.describe('what the member had made and was ended'),
    left: counts.describe('what lives on: the lists with `createdBy` name it'),
  })
  .meta({
    examples: [{ ended: { keys: 1, tokens: 2, webhooks: 0 }, left: { keys: 0, tokens: 0, webhooks: 1 } }],
  })
export type RemovalRecord = z.infer<typeof removalRecord>

const ofMaker = { project: id.optional(), createdBy: id.optional() }
export const tenantTokenQuery = pageQuery
  .extend(ofMaker)
  .meta({ examples: [{ createdBy: exampleIds.user, limit: 20 }] })
export const tenantWebhookQuery = pageQuery
  .extend(ofMaker)
  .meta({ examples: [{ createdBy: exampleIds.user, limit: 20 }] })
export const tenantWebhookRecord = z
  .strictObject({
    id,
    project: id,
    host: z.string().describe('of its address; only Project Owners see the whole address'),
    createdBy: id,
    createdAt: time,
  })
  .meta({
    examples: [
      {
        id: exampleIds.webhook,
        project: exampleIds.project,
        host: 'hooks.example.com',
        createdBy: exampleIds.user,
        createdAt: '2026-11-20T09:00:00.000Z',
      },
    ],
  })
export type TenantWebhookRecord = z.infer<typeof tenantWebhookRecord>
