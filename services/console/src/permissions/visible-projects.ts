import type { Prisma } from '@gateway/database/client'
import type { ConsoleDeps } from '../deps.ts'
import { ACCESS_TOKEN, type User } from '../sign-in/user.ts'
import { type Roles, rolesInTenant } from './roles.ts'
import { refuse } from '@gateway/api/refusal'
import { seesTenant } from './permissions.ts'
import type { Transaction } from '../audit/record-change.ts'

/** `seesProject` for a whole list: all projects for an Admin, those of their teams and grants for a member. */
export async function visibleProjects(
  { prisma }: Pick<ConsoleDeps, 'prisma'>,
  user: User,
  tenant: string,
  roles: Roles,
): Promise<Prisma.ProjectWhereInput> {
  if (user.token?.project) return { tenant, id: user.token.project }
  if (roles.tenant === 'Admin' || roles.platformOperator) return { tenant }
  const [teams, grants] = await Promise.all([
    prisma.teamMember.findMany({ where: { user: user.id }, select: { team: true } }),
    prisma.projectGrant.findMany({ where: { user: user.id }, select: { project: true } }),
  ])
  return {
    tenant,
    OR: [{ team: { in: teams.map(({ team }) => team) } }, { id: { in: grants.map(({ project }) => project) } }],
  }
}

/**
 * Returns the condition for the keys a user may list, revoke and rotate: all keys of the tenant for an Admin; for
 * others, their own and those of projects they own (rules §7.3). Other keys don't exist for that user.
 * @throws Refusal `not_found` for a tenant the user can't see
 */
export async function visibleKeys(
  { prisma }: Pick<ConsoleDeps, 'prisma'>,
  user: User,
  tenant: string,
): Promise<Prisma.KeyWhereInput> {
  const roles = await rolesInTenant(prisma, user, tenant)
  if (!roles || !seesTenant(roles)) throw refuse('not_found', {})
  if (user.token) {
    const { project, permissions } = user.token
    if (!permissions.includes('keys.manage')) return nothing(tenant)
    return project === null ? { tenant } : { tenant, project }
  }
  if (roles.tenant === 'Admin') return { tenant }
  if (roles.tenant === null) return nothing(tenant)
  const owned = await prisma.projectGrant.findMany({
    where: { user: user.id, role: 'Project Owner' },
    select: { project: true },
  })
  return { tenant, OR: [{ createdBy: user.id }, { project: { in: owned.map(({ project }) => project) } }] }
}

function nothing(tenant: string): Prisma.KeyWhereInput {
  return { tenant, id: { in: [] } }
}

// Sandbox products are visible only to Project Owners and Consumers (flows §1.2). Others can manage keys and read the
// audit: they see the same placeholder for the ID of every sandbox product.

/** Placeholder for the ID of a sandbox product that the reader may not use. */
export const HIDDEN_SANDBOX = 'sbx-…'

/** Returns those projects whose sandbox products a member or token may use: none for a suspended member. */
export async function projectsOpenTo(prisma: Transaction, user: string, projects: string[]): Promise<Set<string>> {
  if (user.startsWith(ACCESS_TOKEN)) return projectsOfToken(prisma, user, projects)
  const rows = await prisma.$queryRaw<{ project: string }[]>`
    SELECT g.project FROM control.project_grants g
      JOIN control.projects p ON p.id = g.project
      JOIN control.memberships m ON m.tenant = p.tenant AND m.user_id = g.user_id AND m.suspended_at IS NULL
     WHERE g.user_id = ${user} AND g.project = ANY (${projects}) AND g.role IN ('Project Owner', 'Project Consumer')`
  return new Set(rows.map(({ project }) => project))
}

async function projectsOfToken(prisma: Transaction, token: string, projects: string[]): Promise<Set<string>> {
  const found = await prisma.accessToken.findFirst({ where: { id: token, permissions: { has: 'sandboxes.use' } } })
  return new Set(projects.filter((project) => project === found?.project))
}

/** Returns the names of those sandbox products that a member may use, by ID. */
export async function sandboxesOpenTo(
  prisma: Transaction,
  user: string,
  sandboxes: string[],
): Promise<Map<string, string>> {
  const select = { id: true, project: true, name: true }
  const rows = await prisma.sandbox.findMany({ where: { id: { in: sandboxes } }, select })
  const open = await projectsOpenTo(
    prisma,
    user,
    rows.map(({ project }) => project),
  )
  return new Map(rows.filter(({ project }) => open.has(project)).map(({ id, name }) => [id, name]))
}

/** Replaces the ids of sandbox products on an allowlist with one placeholder. */
export function hideSandboxes(resources: string[]): string[] {
  const others = resources.filter((id) => !id.startsWith('sbx-'))
  return others.length === resources.length ? resources : [...others, HIDDEN_SANDBOX]
}
