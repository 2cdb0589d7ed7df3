import type { TokenPermission } from '@gateway/api/console/access-tokens'
import type { ProjectRole, TeamRole, TenantRole } from '@gateway/api/console/fields'
import { refuse } from '@gateway/api/refusal'
import type { Transaction } from '../audit/record-change.ts'
import type { User, TokenScope } from '../sign-in/user.ts'

/** Roles of a user or token in a tenant and, if a project is given, in that project. */
export interface Roles {
  platformOperator: boolean
  tenant: TenantRole | null
  /** Role in the team that owns the project. */
  team: TeamRole | null
  project: ProjectRole | null
  /** Whether the grant on the project includes captured content. */
  readsContent?: boolean
  /** Permissions listed by a token. Absent: all permissions of the roles. */
  only?: readonly TokenPermission[]
}

export interface ProjectFacts {
  id: string
  tenant: string
  team: string
  name: string
}

/**
 * Returns the roles of a user in a tenant; null if the tenant does not exist.
 * @throws Refusal `second_factor_required`
 */
export async function rolesInTenant(prisma: Transaction, user: User, tenantId: string): Promise<Roles | null> {
  if (user.token) {
    const isThere = await prisma.tenant.findUnique({ where: { id: tenantId } })
    return isThere && rolesOfToken(user.token, tenantId, null)
  }
  const [tenant, membership] = await Promise.all([
    prisma.tenant.findUnique({ where: { id: tenantId } }),
    activeMembership(prisma, tenantId, user.id),
  ])
  if (!tenant) return null
  if (membership) requireSecondFactor(tenant, user)
  return {
    platformOperator: user.platformOperator,
    tenant: (membership?.role ?? null) as TenantRole | null,
    team: null,
    project: null,
  }
}

/**
 * Returns the roles of a user in a tenant and one of its projects; null if the tenant has no such project.
 * @param user without `secondFactor` if the roles are not those of the caller
 * @throws Refusal `second_factor_required`
 */
export async function rolesInProject(
  prisma: Transaction,
  user: Pick<User, 'id' | 'platformOperator' | 'token'> & Partial<Pick<User, 'secondFactor'>>,
  tenantId: string,
  projectId: string,
): Promise<{ roles: Roles; project: ProjectFacts } | null> {
  const project = await prisma.project.findFirst({ where: { id: projectId, tenant: tenantId } })
  if (!project) return null
  if (user.token) return { roles: rolesOfToken(user.token, tenantId, projectId), project }
  const [tenant, membership, teamMember, grant] = await Promise.all([
    prisma.tenant.findUnique({ where: { id: tenantId } }),
    activeMembership(prisma, tenantId, user.id),
    prisma.teamMember.findUnique({ where: { team_user: { team: project.team, user: user.id } } }),
    prisma.projectGrant.findUnique({ where: { project_user: { project: projectId, user: user.id } } }),
  ])
  if (membership && tenant) requireSecondFactor(tenant, user)
  const roles: Roles = {
    platformOperator: user.platformOperator,
    tenant: (membership?.role ?? null) as TenantRole | null,
    team: (teamMember?.role ?? null) as TeamRole | null,
    project: (grant?.role ?? null) as ProjectRole | null,
    readsContent: grant?.readsContent ?? false,
  }
  return { roles, project }
}

/** The membership of a user, or null if it is suspended or the user disabled. */
export async function activeMembership(prisma: Transaction, tenant: string, user: string) {
  const [membership, enabled] = await Promise.all([
    prisma.membership.findUnique({ where: { tenant_user: { tenant, user }, suspendedAt: null } }),
    prisma.user.count({ where: { id: user, disabledAt: null } }),
  ])
  return enabled > 0 ? membership : null
}

function requireSecondFactor(tenant: { requireSecondFactor: boolean }, user: { secondFactor?: boolean }): void {
  if (tenant.requireSecondFactor && user.secondFactor === false) throw refuse('second_factor_required', {})
}

/** Returns the roles that creating such a token requires, within the scope of the token, and none elsewhere. */
export function rolesOfToken({ tenant, project, permissions }: TokenScope, inTenant: string, of: string | null): Roles {
  const nothing: Roles = { platformOperator: false, tenant: null, team: null, project: null, only: permissions }
  if (tenant !== inTenant) return nothing
  if (project === null) return { ...nothing, tenant: 'Admin' }
  return { ...nothing, tenant: 'Member', project: project === of ? 'Project Owner' : null }
}
