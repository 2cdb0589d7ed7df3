import type { AuditLine } from '@gateway/api/console/audit'
import { Prisma } from '@gateway/database/client'
import { sendText } from '@gateway/service-kit/http/answers'
import type { Response } from 'express'
import type { ConsoleDeps } from '../deps.ts'
import { authorizeOnPlatform, inTenant } from '../permissions/authorize.ts'
import type { Handler } from '../request/call.ts'
import { type User, userOf } from '../sign-in/user.ts'
import { sealAudit } from './seal-audit.ts'
import { type Entry, entryColumns, recordsSeenBy, type Scope } from './visible-entries.ts'
import { recordChange } from './record-change.ts'

// The audit as lines of JSON for a SIEM, which asks again behind the last line that it has. Only sealed entries are
// exported, in the order of the chain: entries are sealed after their commit, one after another, so no entry can appear
// behind one that was read before (A1 in seal_audit.sql).

type Deps = Pick<ConsoleDeps, 'prisma' | 'now'>

/** GET …/audit/export */
export function exportAudit(deps: Deps): Handler<'exportAudit'> {
  return async (call, res) => {
    const { user: reader, tenant } = await inTenant(deps.prisma, call, res, 'audit.read')
    await sendLines(deps, res, reader, { tenant }, call.query())
  }
}

/** GET /api/v2/audit/export */
export function exportPlatformAudit(deps: Deps): Handler<'exportPlatformAudit'> {
  return async (call, res) => {
    const reader = userOf(res)
    authorizeOnPlatform(reader, 'platform-audit.read')
    await sendLines(deps, res, reader, {}, call.query())
  }
}

interface Query {
  after: string
  limit: number
}

interface Sealed extends Entry {
  position: bigint
  seal: Uint8Array
}

async function sendLines(deps: Deps, res: Response, reader: User, scope: Scope, query: Query): Promise<void> {
  await recordDailyExport(deps, reader, scope)
  await sealAudit(deps)
  const rows = await readSealed(deps, scope, query)
  const recordOf = await recordsSeenBy(deps, reader.id, rows)
  const lines = rows.map((row): AuditLine => {
    const { subjectName: _, ...record } = recordOf(row)
    return { ...record, position: String(row.position), seal: Buffer.from(row.seal).toString('hex') }
  })
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  sendText(res, 200, text, { 'Content-Type': 'application/x-ndjson' })
}

function readSealed({ prisma }: Deps, { tenant }: Scope, { after, limit }: Query): Promise<Sealed[]> {
  const scope = tenant === undefined ? Prisma.sql`a.original IS NULL` : Prisma.sql`a.tenant = ${tenant}`
  return prisma.$queryRaw<Sealed[]>`
    SELECT ${entryColumns}, a.position, a.seal
      FROM control.audit a
     WHERE ${scope} AND a.position > ${BigInt(after)}
     ORDER BY a.position
     LIMIT ${limit}::int`
}

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
async function recordDailyExport(deps: Pick<ConsoleDeps, 'prisma' | 'now'>, reader: User, scope: Scope): Promise<void> {
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
