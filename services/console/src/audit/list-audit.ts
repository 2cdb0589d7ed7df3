import type { AuditRecord, PlatformAuditRecord } from '@gateway/api/console/audit'
import { Prisma } from '@gateway/database/client'
import type { Response } from 'express'
import type { ConsoleDeps } from '../deps.ts'
import { authorizeOnPlatform, inTenant } from '../permissions/authorize.ts'
import { sandboxesOpenTo } from '../permissions/visible-projects.ts'
import type { Handler } from '../request/call.ts'
import { behind, equal, type FoundRow, foundRows, inPeriod, type Order, pageOfFound } from '../request/found-rows.ts'
import { readTimeCursor } from '../request/page.ts'
import type { CsvRow } from '@gateway/api/csv-text'
import { sendCsv } from '../request/send-csv.ts'
import { onlyUserOf, type User, userOf } from '../sign-in/user.ts'
import { recordExport } from './export-audit.ts'
import { type Entry, entryColumns, recordsSeenBy, type Scope } from './visible-entries.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'now'>

/** GET …/audit: what was done in an organization, newest first. */
export function listAudit(deps: Deps): Handler<'listAudit'> {
  return async (call, res) => {
    const { user: reader, tenant } = await inTenant(deps.prisma, call, res, 'audit.read')
    await sendEntries(deps, res, reader, { tenant }, call.query())
  }
}

/**
 * GET /api/v2/me/audit: what the user did, failed attempts to sign in as the user, and what happened to the user by no
 * one who is signed in, such as the end of a leaked token.
 */
export function listMyAudit(deps: Deps): Handler<'listMyAudit'> {
  return async (call, res) => {
    const reader = onlyUserOf(res)
    const { user: _, ...query } = call.query()
    await sendEntries(deps, res, reader, { ofUser: reader.id }, query)
  }
}

/** GET /api/v2/audit: what was done in all organizations and on the platform. */
export function listPlatformAudit(deps: Deps): Handler<'listPlatformAudit'> {
  return async (call, res) => {
    const reader = userOf(res)
    authorizeOnPlatform(reader, 'platform-audit.read')
    await sendEntries(deps, res, reader, {}, call.query())
  }
}

interface Filters {
  tenant?: string | undefined
  user?: string | undefined
  action?: string | undefined
  subject?: string | undefined
  address?: string | undefined
  outcome?: string | undefined
  from?: Date | undefined
  to?: Date | undefined
}

type Query = Filters & { cursor?: string | undefined; limit: number; format: 'json' | 'csv' }

const CSV_ENTRIES = 10_000
const CSV_PAGE = 500
/** Pages read for a file: one of them may hold few entries that match. */
const CSV_PAGES = 40

async function sendEntries(deps: Deps, res: Response, reader: User, scope: Scope, query: Query): Promise<void> {
  const { cursor, limit, format, ...filters } = query
  const read = async (cursor: string | null, limit: number) => readPage(deps, reader, scope, filters, cursor, limit)
  if (format === 'json') return void res.json(await read(cursor ?? null, limit))
  const records: AuditRecord[] = []
  let next = cursor ?? null
  let pages = 0
  do {
    const page = await read(next, Math.min(CSV_PAGE, CSV_ENTRIES - records.length))
    records.push(...page.data)
    next = page.nextCursor
    pages++
  } while (next !== null && records.length < CSV_ENTRIES && pages < CSV_PAGES)
  if (next !== null) res.set('Next-Cursor', next)
  await recordExport(deps, reader, scope, { format: 'csv' })
  sendCsv(res, `audit-${scope.tenant ?? scope.ofUser ?? 'all'}-${deps.now().toISOString().slice(0, 10)}`, [
    csvColumns,
    ...records.map(csvRow),
  ])
}

const csvColumns: CsvRow = [
  'id',
  'at',
  'tenant',
  'user',
  'user_name',
  'action',
  'subject',
  'outcome',
  'request_id',
  'address',
  'device',
  'details',
]

function csvRow({ id, at, tenant, user, userName, action, subject, ...rest }: AuditRecord): CsvRow {
  const { outcome, requestId, address, device, details } = rest
  return [id, at, tenant, user, userName, action, subject, outcome, requestId, address, device, JSON.stringify(details)]
}

async function readPage(
  deps: Deps,
  reader: User,
  scope: Scope,
  filters: Filters,
  cursor: string | null,
  limit: number,
) {
  const place = cursor === null ? null : readCursor(cursor)
  const { subject } = filters
  // For a reader who may not use a sandbox product, no entry has its ID.
  const nothing = subject?.startsWith('sbx-') && (await sandboxesOpenTo(deps.prisma, reader.id, [subject])).size === 0
  const found = findEntries(scope, { ...filters, place, limit })
  const rows = nothing ? [] : await deps.prisma.$queryRaw<AuditRow[]>(found)
  const recordOf = await recordsSeenBy(deps, reader.id, rows)
  const page = pageOfFound(rows, limit, recordOf, ({ at, id }) => ({ at, id: String(id) }))
  const isOfPlatform = scope.tenant === undefined && scope.ofUser === undefined
  return isOfPlatform ? { ...page, data: await withNames(deps, page.data) } : page
}

function readCursor(cursor: string): { at: Date; id: bigint } {
  const { at, id } = readTimeCursor(cursor, /^\d{1,18}$/)
  return { at, id: BigInt(id) }
}

interface AuditRow extends Entry, FoundRow {}

interface AuditWalk extends Filters {
  /** Position where the previous page ended. */
  place: { at: Date; id: bigint } | null
  limit: number
}

const order: Order = { at: Prisma.sql`a.at`, id: Prisma.sql`a.id` }
const columns = {
  tenant: Prisma.sql`a.tenant`,
  user: Prisma.sql`a.user_id`,
  action: Prisma.sql`a.action`,
  subject: Prisma.sql`a.subject`,
  address: Prisma.sql`a.address`,
  outcome: Prisma.sql`a.outcome`,
}

/** Who did it or, if no one is signed in, to whom it happened. */
const concerned = Prisma.sql`coalesce(a.user_id, a.details ->> 'user')`

/**
 * Selects the entries of a scope that match the filters, newest first. Each scope has an index, and one by user; an
 * organization has one by subject too (L2 in found-rows.ts).
 */
export function findEntries(scope: Scope, { limit, place, ...filters }: AuditWalk): Prisma.Sql {
  const along = Prisma.sql`${walkOf(scope, filters)} ${inPeriod(order.at, filters)} ${behind(order, place)}`
  const names = Object.keys(columns) as (keyof typeof columns)[]
  const fits = Prisma.sql`(true ${equal(names.map((name) => [columns[name], filters[name]]))})`
  return foundRows({ ...order, table: Prisma.sql`control.audit`, along, fits, columns: entryColumns }, limit)
}

function walkOf({ tenant, ofUser }: Scope, { user, subject }: Filters): Prisma.Sql {
  if (tenant !== undefined) {
    const indexed = subject === undefined ? equal([[columns.user, user]]) : equal([[columns.subject, subject]])
    return Prisma.sql`a.tenant = ${tenant} ${indexed}`
  }
  return Prisma.sql`a.original IS NULL ${equal([[concerned, ofUser ?? user]])}`
}

type Named = { id: string; name: string }

/**
 * Adds the names of organizations, projects and users to entries, for an operator, who reads those of all organizations
 * and can't look them up there.
 */
async function withNames(
  { prisma }: Pick<ConsoleDeps, 'prisma'>,
  entries: AuditRecord[],
): Promise<PlatformAuditRecord[]> {
  const named = entries.map((entry) => ({ entry, ids: idsOf(entry) }))
  const ids = (prefix: string) => [...new Set(named.flatMap((each) => each.ids).filter((id) => id.startsWith(prefix)))]
  const of = (prefix: string) => ({ where: { id: { in: ids(prefix) } }, select: { id: true, name: true } })
  const found: Named[][] = await Promise.all([
    prisma.tenant.findMany(of('ten_')),
    prisma.project.findMany(of('prj_')),
    prisma.user.findMany(of('usr_')),
  ])
  const names = new Map(found.flat().map(({ id, name }) => [id, name]))
  return named.map(({ entry, ids: own }) => ({
    ...entry,
    names: Object.fromEntries(own.flatMap((id) => (names.has(id) ? [[id, names.get(id)!]] : []))),
  }))
}

/** IDs that an entry refers to. The subject of a wallet entry is "project/booking". */
function idsOf({ tenant, subject, details }: AuditRecord): string[] {
  const fields = Object.values(details).filter((value) => typeof value === 'string')
  return [tenant, subject.split('/')[0]!, ...fields].filter((id) => id !== null)
}
