import { refuse } from '@gateway/api/refusal'
import type { Transaction } from '../audit/record-change.ts'
import { type User, userOf } from '../sign-in/user.ts'
import type { Response } from 'express'
import { projectTokenPermission, tenantTokenPermission } from '@gateway/api/console/access-tokens'
import { holds, mayIssueKeys, type Permission, permissions, seesProject, seesTenant } from './permissions.ts'
import { type ProjectFacts, type Roles, rolesInProject, rolesInTenant } from './roles.ts'
import type { ConsoleDeps } from '../deps.ts'

// Each function returns if the user has the permission. Otherwise it throws `not_found` if the user may not see the
// resource, and `not_permitted` if they may. `prisma` is the client, or a transaction that sees its own changes.

/** @throws Refusal `not_permitted` */
export function authorizeOnPlatform(
  { platformOperator }: Pick<User, 'platformOperator'>,
  permission: Permission,
): void {
  requirePermission({ platformOperator, tenant: null, team: null, project: null }, permission)
}

/** Requires membership of any organization. @throws Refusal `not_permitted` */
export async function requireMembership(prisma: Transaction, { id, token }: User): Promise<void> {
  if (token) return
  if ((await prisma.membership.findFirst({ where: { user: id, suspendedAt: null } })) === null)
    throw refuse('not_permitted', { need: 'a membership of an organization' })
}

/** Reaches the organization of the path as the caller. @throws Refusal `not_found`, `not_permitted` */
export async function inTenant(
  prisma: Transaction,
  call: { id: (name: 'tenant') => string },
  res: Pick<Response, 'locals'>,
  permission: Permission,
): Promise<{ user: User; tenant: string; roles: Roles }> {
  const [user, tenant] = [userOf(res), call.id('tenant')]
  return { user, tenant, roles: await authorizeInTenant(prisma, user, tenant, permission) }
}

/** Reaches the project of the path as the caller. @throws Refusal `not_found`, `not_permitted` */
export async function inProject(
  prisma: Transaction,
  call: { id: (name: 'tenant' | 'project') => string },
  res: Pick<Response, 'locals'>,
  permission: Permission,
): Promise<{ user: User; tenant: string; project: string }> {
  const [user, tenant] = [userOf(res), call.id('tenant')]
  const { id: project } = await authorizeInProject(prisma, user, tenant, call.id('project'), permission)
  return { user, tenant, project }
}

/** @throws Refusal `not_found`, `not_permitted` */
export async function authorizeInTenant(
  prisma: Transaction,
  user: User,
  tenant: string,
  permission: Permission,
): Promise<Roles> {
  const roles = await rolesInTenant(prisma, user, tenant)
  if (!roles || !seesTenant(roles)) throw refuse('not_found', {})
  requirePermission(roles, permission)
  return roles
}

/** @throws Refusal `not_found`, `not_permitted` */
export async function authorizeInProject(
  prisma: Transaction,
  user: User,
  tenant: string,
  projectId: string,
  permission: Permission,
): Promise<ProjectFacts> {
  const found = await rolesInProject(prisma, user, tenant, projectId)
  if (!found || !seesProject(found.roles)) throw refuse('not_found', {})
  requirePermission(found.roles, permission)
  return found.project
}

/**
 * Applies the issuer rule at creation (rules §6.5): a user who meets only some of the three requirements gets
 * `key_issuer_denied` instead of `not_found`.
 * @throws Refusal `not_found` for a user who meets none of them, `key_issuer_denied`
 */
export async function authorizeKeyIssuer(
  prisma: Transaction,
  user: User,
  tenant: string,
  projectId: string,
): Promise<ProjectFacts> {
  const found = await rolesInProject(prisma, user, tenant, projectId)
  if (!found || hasNoRole(found.roles)) throw refuse('not_found', {})
  if (!mayIssueKeys(found.roles)) throw refuse('key_issuer_denied', { use: false })
  return found.project
}

/** Whether a user may read and write the sandbox products of a project; `false` if the project does not exist. */
export async function mayUseSandboxes(
  prisma: Transaction,
  user: User,
  tenant: string,
  projectId: string,
): Promise<boolean> {
  const found = await rolesInProject(prisma, user, tenant, projectId)
  return found !== null && holds(found.roles, 'sandboxes.use')
}

function requirePermission(roles: Roles, permission: Permission): void {
  if (!holds(roles, permission)) throw refuse('not_permitted', { need: needOf(roles, permission) })
}

const ofTokens: readonly string[] = [...tenantTokenPermission.options, ...projectTokenPermission.options]

/** States the missing permission if tokens can have it; otherwise the user role that is required. */
function needOf({ only }: Roles, permission: Permission): string {
  if (only === undefined || !ofTokens.includes(permission)) return permissions[permission].need
  return `a token with the permission ${permission}`
}

function hasNoRole({ platformOperator, tenant, team, project }: Roles): boolean {
  return !platformOperator && tenant === null && team === null && project === null
}

/**
 * Changes permissions of a tenant in one transaction. Such changes run in sequence per tenant, and the caller is
 * authorized again inside the transaction: a user who has just lost a permission can no longer pass it on, and two
 * Admins can't remove each other concurrently.
 */
export function changePermissions<T>(
  { prisma }: Pick<ConsoleDeps, 'prisma'>,
  tenant: string,
  change: (tx: Transaction) => Promise<T>,
): Promise<T> {
  return prisma.$transaction(async (tx) => {
    // NO KEY: rows that only reference the tenant can still be inserted and deleted.
    await tx.$queryRaw`SELECT FROM control.tenants WHERE id = ${tenant} FOR NO KEY UPDATE`
    return change(tx)
  })
}

const MAX_PROJECTS = 1000

/**
 * Resolves once no call of these projects can still be admitted on the state before the change. A revocation responds
 * after its commit and after this barrier (architecture §M2). If the ledger can't be reached, the caller gets
 * `unavailable`: the revocation stays in effect, and a repeated request passes the barrier again.
 */
export async function passBarrier({ ledger }: Pick<ConsoleDeps, 'ledger'>, projects: readonly string[]): Promise<void> {
  const ordered = [...new Set(projects)].toSorted()
  for (let n = 0; n < ordered.length; n += MAX_PROJECTS)
    await ledger.barrier({ projects: ordered.slice(n, n + MAX_PROJECTS) })
}
