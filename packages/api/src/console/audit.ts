import { z } from 'zod'
import { exampleIds, exampleValues } from '../example-ids.ts'
import { id, time } from './fields.ts'
import { timedQuery } from './page.ts'
import { format } from './statement.ts'

/** What the audit records. A later release may have more. */
export const auditActions = [
  'session.create',
  'session.delete',
  'session.leak',
  'token.create',
  'token.delete',
  'token.leak',
  'password.set',
  'password.reset-link',
  'password.reset',
  'second-factor.set',
  'second-factor.remove',
  'second-factor.reset',
  'second-factor.refuse',
  'recovery-codes.set',
  'recovery-codes.use',
  'user.sign-out',
  'user.disable',
  'user.enable',
  'identity.link',
  'audit.export',
  'usage.export',
  'statement.export',
  'owner.appoint',
  'owner.object',
  'owner.withdraw',
  'owner.lapse',
  'member.set',
  'member.remove',
  'member.suspend',
  'member.resume',
  'invitation.create',
  'invitation.resend',
  'invitation.revoke',
  'invitation.accept',
  'team.create',
  'team.delete',
  'team-member.set',
  'team-member.remove',
  'project.create',
  'project.change',
  'project.quotas',
  'content.read',
  'project.delete',
  'grant.set',
  'grant.remove',
  'product.assign',
  'product.unassign',
  'key.create',
  'key.rename',
  'key.pause',
  'key.resume',
  'key.rotate',
  'key.revoke',
  'key.leak',
  'access-token.create',
  'access-token.delete',
  'access-token.leak',
  'sandbox.create',
  'sandbox.change',
  'revision.save',
  'revision.activate',
  'sandbox.execution.cancel',
  'sandbox.execution.rerun',
  'asset.create',
  'asset.delete',
  'notices.set_thresholds',
  'budget.set',
  'budget.remove',
  'webhook.create',
  'webhook.delete',
  'webhook.rotate',
  'webhook.test',
  'webhook.resend',
  'wallet.fund',
  'wallet.correct',
  'tenant.create',
  'tenant.change',
  'tenant.delete',
  'operator.first',
  'operator.add',
  'operator.remove',
  'product.create',
  'product.change',
  'product.factor',
  'provider.test',
] as const
export type AuditAction = (typeof auditActions)[number]

/** What an entry of the audit says of an action. */
export const auditOutcome = z.enum(['succeeded', 'refused'])

const filters = {
  user: id.optional(),
  action: id.optional(),
  subject: id.optional(),
  address: id.optional(),
  outcome: auditOutcome.optional(),
  format,
}
const example = {
  user: exampleIds.user,
  action: 'key.create',
  from: exampleValues.from,
  to: exampleValues.to,
  limit: 20,
}
export const auditQuery = timedQuery(filters).meta({ examples: [example] })
/** By an operator, who reads those of all organizations. */
export const platformAuditQuery = timedQuery({ ...filters, tenant: id.optional() }).meta({ examples: [example] })

const entry = {
  id: '42',
  at: '2026-11-20T09:00:00.000Z',
  tenant: exampleIds.tenant,
  user: exampleIds.user,
  userName: 'Ada',
  action: 'key.create',
  subject: exampleIds.key,
  subjectName: null,
  outcome: 'succeeded' as const,
  requestId: 'req_example',
  address: '203.0.113.7',
  device: 'Mozilla/5.0 (X11; Linux x86_64) Firefox/147.0',
  details: { project: exampleIds.project },
}
export const auditRecord = z
  .strictObject({
    id,
    at: time,
    tenant: id.nullable().describe('null: of no single organization'),
    user: id.nullable().describe('or the token that acted; null: a key or the service'),
    userName: z.string().nullable().describe('at that time'),
    action: z.string(),
    subject: z.string().describe('what it was done to; sbx-… for a sandbox product that the reader may not use'),
    subjectName: z.string().nullable().describe('the name of a sandbox product now; null: of anything else'),
    outcome: auditOutcome,
    requestId: z.string().nullable().describe('the X-Request-Id of the answer'),
    address: z.string().nullable().describe('of the caller'),
    device: z.string().nullable().describe('the user agent, at most 200 characters of it'),
    details: z.record(z.string(), z.unknown()),
  })
  .meta({ examples: [entry] })
export type AuditRecord = z.infer<typeof auditRecord>

export const platformAuditRecord = auditRecord
  .extend({
    names: z
      .record(z.string(), z.string())
      .describe('the names now of organizations, projects and users in this entry, by ID'),
  })
  .meta({
    examples: [{ ...entry, names: { [exampleIds.tenant]: 'Acme', [exampleIds.project]: 'Search' } }],
  })
export type PlatformAuditRecord = z.infer<typeof platformAuditRecord>

export const auditExportQuery = z
  .strictObject({
    after: z
      .string()
      .regex(/^\d{1,18}$/)
      .default('0')
      .describe('the `position` of the last line that you have; without it, from the first entry'),
    limit: z.coerce.number().int().min(1).max(5_000).default(1_000),
  })
  .meta({ examples: [{ after: '41', limit: 1_000 }] })
const { subjectName: _, ...lineEntry } = entry
export const auditLine = auditRecord
  .omit({ subjectName: true }) // may change; an exported line does not
  .extend({
    position: z.string().describe('in the chain of all entries; each is exported after all before it'),
    seal: z.string().describe('SHA-256 over the seal before and this entry, in hex'),
  })
  .meta({ examples: [{ ...lineEntry, position: '42', seal: '5f'.repeat(32) }] })
export type AuditLine = z.infer<typeof auditLine>
