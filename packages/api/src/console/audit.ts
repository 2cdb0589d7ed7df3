import { z } from 'zod'
import { exampleIds, exampleValues } from '../example-ids.ts'
import { id, time } from './fields.ts'
import { timedQuery } from './page.ts'
import { format } from './statement.ts'

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
