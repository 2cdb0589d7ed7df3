import type { AuditRecord } from '@gateway/contracts/console/people'
import type { ConsoleDeps } from '../deps.ts'
import { authorizeInTenant } from '../permissions/authorize.ts'
import type { Handler } from '../request/call.ts'
import { pageOf, readNumberCursor } from '../request/page.ts'
import { personOf } from '../sign-in/person.ts'

/** GET …/audit: who changed what and when, newest first. */
export function listAudit(deps: Pick<ConsoleDeps, 'prisma'>): Handler<'listAudit'> {
  return async (call, res) => {
    const tenant = call.id('tenant')
    await authorizeInTenant(deps, personOf(res), tenant, 'audit.read')
    const { cursor, limit } = call.query()
    const rows = await deps.prisma.auditEntry.findMany({
      where: { tenant, ...(cursor !== undefined && { id: { lt: readNumberCursor(cursor, 18) } }) },
      orderBy: { id: 'desc' },
      take: limit + 1,
    })
    const entries = rows.map(({ id, at, person, action, subject, details }) => ({
      id: String(id),
      at: at.toISOString(),
      person,
      action,
      subject,
      details: details as AuditRecord['details'],
    }))
    res.json(pageOf(entries, limit, ({ id }) => id))
  }
}
