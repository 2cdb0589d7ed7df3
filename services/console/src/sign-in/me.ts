import type { ProjectRole, TeamRole, TenantRole } from '@gateway/api/console/fields'
import type { Scope } from '@gateway/api/console/scopes'
import type { MeRecord } from '@gateway/api/console/sign-in'
import { refuse } from '@gateway/api/refusal'
import type { ConsoleDeps } from '../deps.ts'
import type { Handler } from '../request/call.ts'
import { rolesOfToken } from '../permissions/roles.ts'
import { userOf, type User, type TokenScope } from './user.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'traceUrl'>

/** GET /api/v2/me: identity and roles of the caller, a user or a program. */
export function readMe(deps: Deps): Handler<'readMe'> {
  return async (_call, res) => {
    const { token, ...user } = userOf(res)
    res.json(token ? await programOf(deps, { ...user, token }) : await meOf(deps, user))
  }
}

/** Identity of a program: one organization and, for a project token, one project. */
async function programOf(
  { prisma, traceUrl }: Deps,
  { token, ...program }: User & { token: TokenScope },
): Promise<MeRecord> {
  const [tenant, project] = await Promise.all([
    prisma.tenant.findUnique({ where: { id: token.tenant } }),
    token.project === null ? null : prisma.project.findUnique({ where: { id: token.project } }),
  ])
  if (!tenant) throw refuse('token_invalid', {}) // deleted since it was authenticated
  const roles = rolesOfToken(token, token.tenant, token.project)
  const projects = project ? [{ id: project.id, name: project.name, role: roles.project! }] : []
  const { id, email, name, platformOperator, secondFactor } = program
  const role = roles.tenant!
  return {
    id,
    email,
    name,
    platformOperator,
    traceUrl: traceUrl ?? null,
    permissions: [...token.permissions],
    scopes: null,
    secondFactor,
    tenants: [{ id: tenant.id, name: tenant.name, role, needsSecondFactor: false, teams: [], projects }],
  }
}

export async function meOf({ prisma, traceUrl }: Deps, user: User): Promise<MeRecord> {
  const { id, email, name, platformOperator, secondFactor, personal } = user
  const [memberships, teamMembers, grants] = await Promise.all([
    prisma.membership.findMany({ where: { user: id, suspendedAt: null }, orderBy: { tenant: 'asc' } }),
    prisma.teamMember.findMany({ where: { user: id }, orderBy: { team: 'asc' } }),
    prisma.projectGrant.findMany({ where: { user: id }, orderBy: { project: 'asc' } }),
  ])
  const [tenants, teams, projects] = await Promise.all([
    prisma.tenant.findMany({ where: { id: { in: memberships.map(({ tenant }) => tenant) } } }),
    prisma.team.findMany({ where: { id: { in: teamMembers.map(({ team }) => team) } } }),
    prisma.project.findMany({ where: { id: { in: grants.map(({ project }) => project) } } }),
  ])
  return {
    id,
    email,
    name,
    platformOperator,
    traceUrl: traceUrl ?? null,
    permissions: null,
    scopes: personal ? (personal.scopes as Scope[]) : null,
    secondFactor,
    tenants: rolesByTenant({ memberships, teamMembers, grants }, { tenants, teams, projects }).map((each) =>
      withSecondFactor(each, secondFactor, tenants.find(({ id }) => id === each.id)!.requireSecondFactor),
    ),
  }
}

type RolesInTenant = Omit<MeRecord['tenants'][number], 'needsSecondFactor'>

/** Without a second factor that the organization requires, nothing in it is shown. */
function withSecondFactor(roles: RolesInTenant, hasOne: boolean, isRequired: boolean): MeRecord['tenants'][number] {
  return isRequired && !hasOne
    ? { ...roles, needsSecondFactor: true, teams: [], projects: [] }
    : { ...roles, needsSecondFactor: false }
}

interface RoleRows {
  memberships: { tenant: string; role: string }[]
  teamMembers: { team: string; role: string }[]
  grants: { project: string; role: string }[]
}

interface NamedRows {
  tenants: { id: string; name: string }[]
  teams: { id: string; name: string; tenant: string }[]
  projects: { id: string; name: string; tenant: string }[]
}

/** Roles with the names of where they apply. What was deleted between the two reads is left out. */
export function rolesByTenant(
  { memberships, teamMembers, grants }: RoleRows,
  { tenants, teams, projects }: NamedRows,
): RolesInTenant[] {
  const tenantOf = byId(tenants)
  const teamOf = byId(teams)
  const projectOf = byId(projects)
  return memberships.flatMap(({ tenant, role }) => {
    const found = tenantOf.get(tenant)
    if (!found) return []
    return {
      id: tenant,
      name: found.name,
      role: role as TenantRole,
      teams: teamMembers.flatMap((row) => {
        const team = teamOf.get(row.team)
        return team?.tenant === tenant ? [{ id: team.id, name: team.name, role: row.role as TeamRole }] : []
      }),
      projects: grants.flatMap((row) => {
        const project = projectOf.get(row.project)
        return project?.tenant === tenant ? [{ id: project.id, name: project.name, role: row.role as ProjectRole }] : []
      }),
    }
  })
}

function byId<Row extends { id: string }>(rows: Row[]): Map<string, Row> {
  return new Map(rows.map((row) => [row.id, row]))
}
