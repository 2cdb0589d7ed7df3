import { z } from 'zod'
import { exampleIds } from '../example-ids.ts'
import { id, time } from './fields.ts'
import { pageQuery } from './page.ts'

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
