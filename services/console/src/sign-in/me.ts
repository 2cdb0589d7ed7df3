import type { ProjectRole, TeamRole, TenantRole } from '@gateway/contracts/console/roles'
import type { MeRecord } from '@gateway/contracts/console/sign-in'
import type { ConsoleDeps } from '../deps.ts'
import type { Handler } from '../request/call.ts'
import { onlyPersonOf, type Person } from './person.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'traceUrl'>

/** GET /api/v2/me: who am I, with which roles. */
export function readMe(deps: Deps): Handler<'readMe'> {
  return async (_call, res) => {
    res.json(await meOf(deps, onlyPersonOf(res)))
  }
}

export async function meOf(
  { prisma, traceUrl }: Deps,
  { id, email, name, platformOperator }: Person,
): Promise<MeRecord> {
  const [memberships, teamMembers, grants] = await Promise.all([
    prisma.membership.findMany({ where: { person: id }, orderBy: { tenant: 'asc' } }),
    prisma.teamMember.findMany({ where: { person: id }, orderBy: { team: 'asc' } }),
    prisma.projectGrant.findMany({ where: { person: id }, orderBy: { project: 'asc' } }),
  ])
  const [tenants, teams, projects] = await Promise.all([
    prisma.tenant.findMany({ where: { id: { in: memberships.map(({ tenant }) => tenant) } } }),
    prisma.team.findMany({ where: { id: { in: teamMembers.map(({ team }) => team) } } }),
    prisma.project.findMany({ where: { id: { in: grants.map(({ project }) => project) } } }),
  ])
  const tenantOf = byId(tenants)
  const teamOf = byId(teams)
  const projectOf = byId(projects)
  return {
    id,
    email,
    name,
    platformOperator,
    traceUrl: traceUrl ?? null,
    tenants: memberships.map(({ tenant, role }) => ({
      id: tenant,
      name: tenantOf.get(tenant)!.name,
      role: role as TenantRole,
      teams: teamMembers.flatMap((row) => {
        const team = teamOf.get(row.team)
        return team?.tenant === tenant ? [{ id: team.id, name: team.name, role: row.role as TeamRole }] : []
      }),
      projects: grants.flatMap((row) => {
        const project = projectOf.get(row.project)
        return project?.tenant === tenant ? [{ id: project.id, name: project.name, role: row.role as ProjectRole }] : []
      }),
    })),
  }
}

function byId<Row extends { id: string }>(rows: Row[]): Map<string, Row> {
  return new Map(rows.map((row) => [row.id, row]))
}
