import type { Prisma } from '@gateway/database/client'
import type { ConsoleDeps } from '../deps.ts'
import type { User } from '../sign-in/user.ts'
import { recordChange } from './record-change.ts'
import type { Scope } from './visible-entries.ts'

const DAY_MS = 86_400_000

/** Writes an audit entry for an export of the audit itself. */
export async function recordExport(
  { prisma }: Pick<ConsoleDeps, 'prisma'>,
  reader: User,
  { tenant, ofUser }: Scope,
  details: Prisma.InputJsonObject,
): Promise<void> {
  const subject = tenant ?? ofUser ?? 'all'
  await recordChange(prisma, { tenant: tenant ?? null, user: reader.id, action: 'audit.export', subject, details })
}

/**
 * The same for a reader that asks again and again: once a day. Otherwise each look would find an entry about the look
 * before.
 */
export async function recordDailyExport(
  deps: Pick<ConsoleDeps, 'prisma' | 'now'>,
  reader: User,
  scope: Scope,
): Promise<void> {
  const since = new Date(deps.now().getTime() - DAY_MS)
  const details = { format: 'ndjson' }
  const before = await deps.prisma.auditEntry.findFirst({
    where: {
      tenant: scope.tenant ?? null,
      user: reader.id,
      action: 'audit.export',
      details: { equals: details },
      at: { gt: since },
    },
    select: { id: true },
  })
  if (before === null) await recordExport(deps, reader, scope, details)
}
