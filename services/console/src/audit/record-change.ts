import type { AuditAction } from '@gateway/api/console/audit'
import type { Prisma } from '@gateway/database/client'
import { redactAnswer, redactForms } from '@gateway/service-kit/text/redact'
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Request, RequestHandler } from 'express'
import { callerAddress } from '@gateway/service-kit/http/connections'
import { requestIdOf } from '@gateway/service-kit/http/preamble'

/** Transaction that writes a change together with its audit row. */
export type Transaction = Prisma.TransactionClient

export interface Change {
  /**
   * null: the change concerns no single organization. One of a user's own (`ofUser`) is repeated for each organization
   * of the user, so that its Admins can read it.
   */
  tenant: string | null
  /** null: made by a key or by the service. */
  user: string | null
  /** What was done, such as `key.revoke`. */
  action: AuditAction
  /** ID of the changed object. */
  subject: string
  /** User whose own change it is (`ofUser`). Default: the subject if it is a user, otherwise `user`. */
  of?: string
  /** Never a secret. Credentials in texts of the caller are redacted by their form. */
  details?: Prisma.InputJsonObject
  /** Default: `succeeded`. */
  outcome?: Outcome
  /** Default: the request in progress. */
  origin?: Origin
}

export type Outcome = 'succeeded' | 'refused'

/** Changes of how a user signs in. Others without an organization are the platform's, such as `product.change`. */
const ofUser = /^(session|token|password|identity|second-factor|recovery-codes|user)\./

/**
 * Writes an audit row with the name of the user, and with the request, address and device that it came from. The table
 * is append-only.
 */
export async function recordChange(tx: Transaction, change: Change): Promise<void> {
  const { tenant, user, action, subject, details = {}, outcome = 'succeeded' } = change
  const { request, address, device } = change.origin ?? currentOrigin()
  const about = change.of ?? (subject.startsWith('usr_') ? subject : user)
  const repeatedFor = tenant === null && ofUser.test(action) ? about : null
  await tx.$executeRaw`
    WITH entry AS (
      INSERT INTO control.audit
        (tenant, user_id, user_name, action, subject, details, outcome, request, address, device)
      SELECT ${tenant}, ${user},
             coalesce((SELECT name FROM control.users WHERE id = ${user}),
                      (SELECT name FROM control.access_tokens WHERE id = ${user})),
             ${action}, ${subject}, ${redactAnswer(JSON.stringify(details))}::jsonb, ${outcome},
             ${request}, ${address}, ${device}
      RETURNING *
    )
    INSERT INTO control.audit
      (tenant, original, user_id, user_name, action, subject, details, outcome, request, address, device)
    SELECT m.tenant, e.id, e.user_id, e.user_name, e.action, e.subject, e.details, e.outcome,
           e.request, e.address, e.device
      FROM entry e
      JOIN control.memberships m ON m.user_id = ${repeatedFor}`
}

/** Writes an audit row for each of these objects of one organization, however many, in one statement. */
export async function recordChanges(
  tx: Transaction,
  { tenant, user, action }: { tenant: string; user: string | null; action: AuditAction },
  changed: readonly Required<Pick<Change, 'subject' | 'details'>>[],
): Promise<void> {
  const { request, address, device } = currentOrigin()
  await tx.$executeRaw`
    INSERT INTO control.audit (tenant, user_id, user_name, action, subject, details, request, address, device)
    SELECT ${tenant}, ${user}, (SELECT name FROM control.users WHERE id = ${user}), ${action},
           c.subject, c.details, ${request}, ${address}, ${device}
      FROM jsonb_to_recordset(${JSON.stringify(changed)}::jsonb) AS c (subject text, details jsonb)`
}

/** Where a change came from. All null: the service itself made it. */
interface Origin {
  /** The X-Request-Id of the answer. */
  request: string | null
  /** Address of the caller, behind the trusted proxies. */
  address: string | null
  /** The user agent, without credentials in it. */
  device: string | null
}

/** Longer user agents are cut. */
const DEVICE_CHARACTERS = 200

const origins = new AsyncLocalStorage<Origin>()
const service: Origin = { request: null, address: null, device: null }

/** Notes the origin of each request for the audit rows that it writes. */
export function noteOrigin(): RequestHandler {
  return (req, res, next) => origins.run({ request: requestIdOf(res) ?? null, ...callerOf(req) }, next)
}

/** Returns the origin of the request in progress. */
export function currentOrigin(): Origin {
  return origins.getStore() ?? service
}

function callerOf(req: Request): Pick<Origin, 'address' | 'device'> {
  const device = redactForms(req.get('User-Agent') ?? '').slice(0, DEVICE_CHARACTERS)
  return { address: callerAddress(req) || null, device: device || null }
}
