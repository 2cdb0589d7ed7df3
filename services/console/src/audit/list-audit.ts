import type { AuditRecord } from '@gateway/api/console/users'
import { Prisma } from '@gateway/database/client'
import type { ConsoleDeps } from '../deps.ts'
import { authorizeInTenant } from '../permissions/authorize.ts'
import { HIDDEN_SANDBOX, projectsOpenTo, sandboxesOpenTo } from '../permissions/visible-projects.ts'
import type { Handler } from '../request/call.ts'
import { behind, equal, type FoundRow, foundRows, inPeriod, type Order, pageOfFound } from '../request/found-rows.ts'
import { readTimeCursor } from '../request/page.ts'
import { userOf } from '../sign-in/user.ts'

/**
 * GET …/audit: who changed what and when, newest first. Details of private sandbox products are hidden from readers who
 * may not use them (rules §7.3).
 */
export function listAudit(deps: Pick<ConsoleDeps, 'prisma'>): Handler<'listAudit'> {
  return async (call, res) => {
    const tenant = call.id('tenant')
    const reader = userOf(res)
    await authorizeInTenant(deps.prisma, reader, tenant, 'audit.read')
    const { cursor, limit, ...filters } = call.query()
    const place = cursor === undefined ? null : readCursor(cursor)
    const open = (sandboxes: string[]) => sandboxesOpenTo(deps.prisma, reader.id, sandboxes)
    const { subject } = filters
    // For a reader who may not use a sandbox product, no entry has its ID.
    const nothing = subject?.startsWith('sbx-') && (await open([subject])).size === 0
    const found = findEntries({ ...filters, tenant, place, limit })
    const rows = nothing ? [] : await deps.prisma.$queryRaw<AuditRow[]>(found)
    const seen = await seenBy(deps, reader.id, rows)
    const recordOf = (row: AuditRow) => auditRecord(isHidden(row, seen) ? hidden(row) : row)
    res.json(pageOfFound(rows, limit, recordOf, ({ at, id }) => ({ at, id: String(id) })))
  }
}

function readCursor(cursor: string): { at: Date; id: bigint } {
  const { at, id } = readTimeCursor(cursor, /^\d{1,18}$/)
  return { at, id: BigInt(id) }
}

function auditRecord({ id, at, user, action, subject, details }: AuditRow): AuditRecord {
  return {
    id: String(id),
    at: at.toISOString(),
    user,
    action,
    subject,
    details: details as AuditRecord['details'],
  }
}

interface Entry {
  action: string
  subject: string
  details: Prisma.JsonValue
}

/** Returns those subjects, sandbox products or projects with assets, that the reader may use. */
async function seenBy({ prisma }: Pick<ConsoleDeps, 'prisma'>, reader: string, rows: Entry[]): Promise<Set<string>> {
  const subjects = (isAbout: (entry: Entry) => boolean) => rows.filter(isAbout).map(({ subject }) => subject)
  const sandboxes = await sandboxesOpenTo(prisma, reader, subjects(isAboutSandbox))
  return sandboxes.union(await projectsOpenTo(prisma, reader, subjects(isAboutAsset)))
}

function isAboutAsset({ action }: Pick<Entry, 'action'>): boolean {
  return action.startsWith('asset.')
}

function isAboutSandbox({ action }: Pick<Entry, 'action'>): boolean {
  return action.startsWith('sandbox.') || action.startsWith('revision.')
}

/** Whether an entry is about a sandbox product or an asset that the reader may not use or that was deleted. */
function isHidden(entry: Entry, open: ReadonlySet<string>): boolean {
  return (
    ((isAboutSandbox(entry) || isAboutAsset(entry)) && !open.has(entry.subject)) || entry.action === 'project.delete'
  )
}

/** Keeps user, action and time of an entry; removes which sandbox product it was, and the details. */
function hidden<T extends Entry>(entry: T): T {
  if (isAboutSandbox(entry)) return { ...entry, subject: HIDDEN_SANDBOX, details: {} }
  if (isAboutAsset(entry)) return { ...entry, details: {} }
  const { sandboxes, ...details } = entry.details as Prisma.JsonObject
  return { ...entry, details: { ...details, sandboxes: Array.isArray(sandboxes) ? sandboxes.length : 0 } }
}

export interface AuditFilters {
  tenant: string
  user?: string | undefined
  action?: string | undefined
  subject?: string | undefined
  from?: Date | undefined
  to?: Date | undefined
  /** Position where the previous page ended. */
  place: { at: Date; id: bigint } | null
  limit: number
}

export interface AuditRow extends FoundRow {
  id: bigint
  at: Date
  user: string | null
  action: string
  subject: string
  details: Prisma.JsonValue
}

const order: Order = { at: Prisma.sql`a.at`, id: Prisma.sql`a.id` }
const columns = Prisma.sql`a.id, a.at, a.user_id AS "user", a.action, a.subject, a.details`
const [user, action, subject] = [Prisma.sql`a.user_id`, Prisma.sql`a.action`, Prisma.sql`a.subject`]

/**
 * Selects the entries of an organization that match the filters, newest first. Filters by user and by subject each have
 * an index (L2 in found-rows.ts).
 */
export function findEntries({ limit, place, ...filters }: AuditFilters): Prisma.Sql {
  const byUser: [Prisma.Sql, string | undefined] = [user, filters.user]
  const bySubject: [Prisma.Sql, string | undefined] = [subject, filters.subject]
  const indexed = filters.subject === undefined ? byUser : bySubject
  const along = Prisma.sql`
    a.tenant = ${filters.tenant} ${equal([indexed])} ${inPeriod(order.at, filters)} ${behind(order, place)}`
  const fits = Prisma.sql`(true ${equal([byUser, bySubject, [action, filters.action]])})`
  return foundRows({ ...order, table: Prisma.sql`control.audit`, along, fits, columns }, limit)
}
