import type { AuditRecord, PlatformAuditRecord } from '@gateway/api/console/audit'
import type { ConsoleDeps } from '../deps.ts'

type Named = { id: string; name: string }

/**
 * Adds the names of organizations, projects and users to entries, for an operator, who reads those of all organizations
 * and can't look them up there.
 */
export async function withNames(
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
