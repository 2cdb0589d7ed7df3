import type { AuditRecord } from '@gateway/api/console/audit'
import { Prisma } from '@gateway/database/client'
import type { ConsoleDeps } from '../deps.ts'
import { HIDDEN_SANDBOX, projectsOpenTo, sandboxesOpenTo } from '../permissions/visible-projects.ts'

type Deps = Pick<ConsoleDeps, 'prisma'>

/** Entries of one organization or one user; of all, where neither is named. */
export interface Scope {
  tenant?: string
  ofUser?: string
}

/** Columns of an entry, of `control.audit` aliased `a`. */
export const entryColumns = Prisma.sql`
  a.id, a.at, a.tenant, a.user_id AS "user", a.user_name AS "userName", a.action, a.subject, a.outcome,
  a.request, a.address, a.device, a.details`

export interface Entry {
  id: bigint
  at: Date
  tenant: string | null
  user: string | null
  userName: string | null
  action: string
  subject: string
  outcome: string
  request: string | null
  address: string | null
  device: string | null
  details: Prisma.JsonValue
}

/**
 * Returns how a reader sees these entries: details of private sandbox products are hidden from readers who may not use
 * them (rules §7.3).
 */
export async function recordsSeenBy(
  { prisma }: Deps,
  reader: string,
  rows: Entry[],
): Promise<(row: Entry) => AuditRecord> {
  const open = await openTo(prisma, reader, rows)
  return (row) => auditRecord(isHidden(row, open) ? hidden(row) : row, open.get(row.subject) ?? null)
}

function auditRecord({ id, at, request, details, outcome, ...rest }: Entry, subjectName: string | null): AuditRecord {
  const { tenant, user, userName, action, subject, address, device } = rest
  return {
    id: String(id),
    at: at.toISOString(),
    tenant,
    user,
    userName,
    action,
    subject,
    subjectName,
    outcome: outcome as AuditRecord['outcome'],
    requestId: request,
    address,
    device,
    details: details as AuditRecord['details'],
  }
}

/** Returns those subjects that the reader may use: sandbox products with their names, and projects with assets. */
async function openTo(prisma: Deps['prisma'], reader: string, rows: Entry[]): Promise<Map<string, string | null>> {
  const subjects = (isAbout: (entry: Entry) => boolean) => rows.filter(isAbout).map(({ subject }) => subject)
  const sandboxes = await sandboxesOpenTo(prisma, reader, subjects(isAboutSandbox))
  const projects = await projectsOpenTo(prisma, reader, subjects(isAboutAsset))
  return new Map([...sandboxes, ...[...projects].map((id) => [id, null] as const)])
}

function isAboutAsset({ action }: Pick<Entry, 'action'>): boolean {
  return action.startsWith('asset.')
}

function isAboutSandbox({ action }: Pick<Entry, 'action'>): boolean {
  return action.startsWith('sandbox.') || action.startsWith('revision.')
}

/** Whether an entry is about a sandbox product or an asset that the reader may not use or that was deleted. */
function isHidden(entry: Entry, open: ReadonlyMap<string, unknown>): boolean {
  return (
    ((isAboutSandbox(entry) || isAboutAsset(entry)) && !open.has(entry.subject)) || entry.action === 'project.delete'
  )
}

/** Removes from an entry which sandbox product it was, and the details. */
function hidden(entry: Entry): Entry {
  if (isAboutSandbox(entry)) return { ...entry, subject: HIDDEN_SANDBOX, details: {} }
  if (isAboutAsset(entry)) return { ...entry, details: {} }
  const { sandboxes, ...details } = entry.details as Prisma.JsonObject
  return { ...entry, details: { ...details, sandboxes: Array.isArray(sandboxes) ? sandboxes.length : 0 } }
}
