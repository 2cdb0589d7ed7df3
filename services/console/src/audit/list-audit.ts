import type { RequestHandler } from 'express'
import { pageQuery } from '@gateway/contracts/console/page'
import type { AuditRecord } from '@gateway/contracts/console/people'
import { refuse } from '@gateway/contracts/refusal'
import type { ConsoleDeps } from '../needs.ts'
import { checkedQuery, pathIdOf } from '../receive/check.ts'
import { mapPage, pageOf } from '../receive/page.ts'
import type { Authorize } from '../permissions/authorize.ts'
import { personOf } from '../sign-in/person.ts'

/** GET …/audit: who changed what and when, newest first. */
export function listAudit({
  prisma,
  authorize,
}: Pick<ConsoleDeps, 'prisma'> & { authorize: Authorize }): RequestHandler {
  return async (req, res) => {
    const tenant = pathIdOf(req, 'tenant')
    await authorize.inTenant(personOf(res), tenant, 'audit.read')
    const { cursor, limit } = checkedQuery(req, pageQuery)
    const before = cursor === undefined ? undefined : BigInt(rowNumber(cursor))
    const rows = await prisma.auditEntry.findMany({
      where: { tenant, ...(before !== undefined && { id: { lt: before } }) },
      orderBy: { id: 'desc' },
      take: limit + 1,
    })
    const page = pageOf(rows, limit, ({ id }) => String(id))
    res.json(
      mapPage(page, ({ id, at, person, action, subject, details }): AuditRecord => {
        return {
          id: String(id),
          at: at.toISOString(),
          person,
          action,
          subject,
          details: details as AuditRecord['details'],
        }
      }),
    )
  }
}

function rowNumber(cursor: string): string {
  if (/^\d{1,18}$/.test(cursor)) return cursor
  throw refuse(
    'invalid_request',
    { reason: 'cursor: is not one that this list gave.', resolution: 'Send the nextCursor of the page before.' },
    { param: 'cursor' },
  )
}
