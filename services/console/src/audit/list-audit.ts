import type { AuditRecord } from '@gateway/contracts/console/people'
import type { Prisma } from '@gateway/database/client'
import type { ConsoleDeps } from '../deps.ts'
import { authorizeInTenant } from '../permissions/authorize.ts'
import { HIDDEN_SANDBOX, sandboxesOpenTo } from '../permissions/hidden-sandboxes.ts'
import type { Handler } from '../request/call.ts'
import { pageOf, readNumberCursor } from '../request/page.ts'
import { personOf } from '../sign-in/person.ts'

/**
 * GET …/audit: who changed what and when, newest first. Of private sandbox products it tells a reader no more than they may know
 * (rules §7.3).
 */
export function listAudit(deps: Pick<ConsoleDeps, 'prisma'>): Handler<'listAudit'> {
  return async (call, res) => {
    const tenant = call.id('tenant')
    const reader = personOf(res)
    await authorizeInTenant(deps, reader, tenant, 'audit.read')
    const { cursor, limit } = call.query()
    const rows = await deps.prisma.auditEntry.findMany({
      where: { tenant, ...(cursor !== undefined && { id: { lt: readNumberCursor(cursor, 18) } }) },
      orderBy: { id: 'desc' },
      take: limit + 1,
    })
    const aboutSandboxes = rows.filter(isAboutSandbox).map(({ subject }) => subject)
    const open = await sandboxesOpenTo(deps.prisma, reader.id, aboutSandboxes)
    const entries = rows.map((row) => {
      const { id, at, person, action, subject, details } = isHidden(row, open) ? hidden(row) : row
      return {
        id: String(id),
        at: at.toISOString(),
        person,
        action,
        subject,
        details: details as AuditRecord['details'],
      }
    })
    res.json(pageOf(entries, limit, ({ id }) => id))
  }
}

interface Entry {
  action: string
  subject: string
  details: Prisma.JsonValue
}

function isAboutSandbox({ action }: Pick<Entry, 'action'>): boolean {
  return action.startsWith('sandbox.') || action.startsWith('revision.')
}

/** An entry about a sandbox product that the reader may not use, or that is no more. */
function isHidden(entry: Entry, open: ReadonlySet<string>): boolean {
  return (isAboutSandbox(entry) && !open.has(entry.subject)) || entry.action === 'project.delete'
}

/** Who did what when stays; which sandbox product it was, and what about it, does not. */
function hidden<T extends Entry>(entry: T): T {
  if (isAboutSandbox(entry)) return { ...entry, subject: HIDDEN_SANDBOX, details: {} }
  const { sandboxes, ...details } = entry.details as Prisma.JsonObject
  return { ...entry, details: { ...details, sandboxes: Array.isArray(sandboxes) ? sandboxes.length : 0 } }
}
