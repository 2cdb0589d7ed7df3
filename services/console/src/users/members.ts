import type { TenantRole } from '@gateway/api/console/fields'
import { endedKinds, type MemberRecord } from '@gateway/api/console/users'
import { refuse } from '@gateway/api/refusal'
import { recordChange, type Transaction } from '../audit/record-change.ts'
import { projectsOfKeys } from '../keys/list-keys.ts'
import type { ConsoleDeps } from '../deps.ts'
import type { Handler } from '../request/call.ts'
import { newestRolesFirst, pageOf, rolesAfter, timeCursor } from '../request/page.ts'
import { userOf, type User } from '../sign-in/user.ts'
import { holds } from '../permissions/permissions.ts'
import { authorizeInTenant, changePermissions, inTenant, passBarrier } from '../permissions/authorize.ts'
import { endInvitationsBy } from './invitations.ts'
import { invalidField } from '../request/check.ts'
import { endMade, endRoles } from './leaving.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'ledger'>

/** GET …/members */
export function listMembers(deps: Deps): Handler<'listMembers'> {
  const { prisma } = deps
  return async (call, res) => {
    const { tenant, roles } = await inTenant(deps.prisma, call, res, 'users.read')
    const { cursor, limit } = call.query()
    const rows = await prisma.membership.findMany({
      where: { tenant, ...rolesAfter(cursor) },
      orderBy: newestRolesFirst,
      take: limit + 1,
    })
    const users = await membersOf(deps, rows, holds(roles, 'users.manage'))
    res.json(pageOf(users, limit, timeCursor))
  }
}

/**
 * PATCH …/members/{user}: another role. A user becomes a member by accepting an invitation (invitations.ts). Where every
 * Admin is disabled, a platform operator makes a member Admin (rules §7.10).
 */
export function changeMember(deps: Deps): Handler<'changeMember'> {
  const { prisma } = deps
  return async (call, res) => {
    const by = userOf(res)
    const tenant = call.id('tenant')
    await authorizeRole(deps.prisma, by, tenant, null)
    const user = call.id('user')
    const { role } = await call.body()
    const row = await changePermissions(deps, tenant, async (tx) => {
      const isAppointed = await authorizeRole(tx, by, tenant, role)
      const where = { tenant_user: { tenant, user } }
      const before = await tx.membership.findUnique({ where })
      if (!before) throw refuse('not_found', {})
      if (isAppointed && (before.suspendedAt !== null || !(await maySignIn(tx, user))))
        throw invalidField('user', 'is suspended or disabled.', 'Enable an Admin, or name a member who may sign in.')
      if (before.role === 'Admin' && before.suspendedAt === null && role !== 'Admin')
        await stopBeingAdmin(tx, tenant, { user, by: by.id })
      const details = { role, before: before.role }
      await recordChange(tx, { tenant, user: by.id, action: 'member.set', subject: user, details })
      return tx.membership.update({ where, data: { role } })
    })
    const [member] = await membersOf({ prisma }, [row], true)
    res.json(member)
  }
}

/**
 * DELETE …/members/{user}: ends the user's roles in teams and projects too and, where asked, what the user made. Answers
 * what lives on (leaving.ts).
 */
export function removeMember(deps: Deps): Handler<'removeMember'> {
  const { prisma } = deps
  return async (call, res) => {
    const { user: by, tenant } = await inTenant(deps.prisma, call, res, 'users.manage')
    const user = call.id('user')
    const end = endedKinds(call.query().end)
    const removal = await changePermissions(deps, tenant, async (tx) => {
      await authorizeInTenant(tx, by, tenant, 'users.manage')
      const before = await tx.membership.findUnique({ where: { tenant_user: { tenant, user } } })
      if (!before) return null
      if (before.role === 'Admin' && before.suspendedAt === null) await stopBeingAdmin(tx, tenant, { user, by: by.id })
      await tx.membership.delete({ where: { tenant_user: { tenant, user } } })
      const roles = await endRoles(tx, { tenant, user })
      const made = await endMade(tx, by, { tenant, user }, end)
      const details = { role: before.role, ...roles, ...made }
      await recordChange(tx, { tenant, user: by.id, action: 'member.remove', subject: user, details })
      return made
    })
    await passBarrier(deps, await projectsOfKeys({ prisma }, { tenant, createdBy: user }))
    if (removal === null) throw refuse('not_found', {})
    res.json(removal)
  }
}

/**
 * Admits an Admin and, where no Admin is left who may sign in, a platform operator who makes a member Admin.
 * @param role null: not known yet
 * @returns whether it admits an operator
 * @throws Refusal `not_found`, `not_permitted`
 */
async function authorizeRole(prisma: Transaction, by: User, tenant: string, role: TenantRole | null): Promise<boolean> {
  const mayAppoint = by.platformOperator && role !== 'Member' && (await countAdmins(prisma, tenant, null)) === 0
  if (!mayAppoint) await authorizeInTenant(prisma, by, tenant, 'users.manage')
  return mayAppoint
}

async function maySignIn(prisma: Transaction, user: string): Promise<boolean> {
  return (await prisma.user.count({ where: { id: user, disabledAt: null } })) > 0
}

/** @throws Refusal `last_admin` */
async function stopBeingAdmin(tx: Transaction, tenant: string, who: { user: string; by: string }): Promise<void> {
  const count = await countAdmins(tx, tenant, who.user)
  if (count <= 1) throw refuse('last_admin', {})
  await endInvitationsBy(tx, tenant, who)
}

/** Counts the Admins who may sign in. @param also user who counts even if disabled */
async function countAdmins(prisma: Transaction, tenant: string, also: string | null): Promise<number> {
  const [{ count }] = await prisma.$queryRaw<[{ count: number }]>`
    SELECT count(*)::int AS count FROM control.memberships m JOIN control.users u ON u.id = m.user_id
     WHERE m.tenant = ${tenant} AND m.role = 'Admin' AND m.suspended_at IS NULL
       AND (u.disabled_at IS NULL OR u.id = ${also})`
  return count
}

/**
 * Requires membership of the organization, which team and project roles depend on.
 * @throws Refusal `invalid_request`, the same for a user who isn't a member and for one who doesn't exist
 */
export async function requireMember(tx: Transaction, tenant: string, user: string): Promise<void> {
  if (await tx.membership.findUnique({ where: { tenant_user: { tenant, user } } })) return
  throw invalidField(
    'user',
    'is not a member of the organization.',
    'Add the user to the organization first, and send the ID from the response.',
  )
}

type MembershipRow = RoleRow<TenantRole> & { suspendedAt: Date | null }

/** Returns memberships with their users; who has a second factor only for Admins. */
async function membersOf(
  { prisma }: Pick<ConsoleDeps, 'prisma'>,
  rows: MembershipRow[],
  isAdmin: boolean,
): Promise<MemberRecord[]> {
  const users = await usersOf<TenantRole>({ prisma }, rows)
  const ids = isAdmin ? users.map(({ id }) => id) : []
  const factors = await prisma.secondFactor.findMany({
    where: { user: { in: ids }, confirmedAt: { not: null } },
    select: { user: true },
  })
  const having = new Set(factors.map(({ user }) => user))
  return users.map((user, at) => ({
    ...user,
    suspendedAt: rows[at]!.suspendedAt?.toISOString() ?? null,
    secondFactor: isAdmin ? having.has(user.id) : null,
  }))
}

interface RoleRow<Role> {
  user: string
  role: string
  createdAt: Date
  /** Exists only for its type. */
  as?: Role
}

interface UserWithRole<Role> {
  id: string
  email: string
  name: string
  role: Role
  createdAt: string
}

/** Returns role rows with the data of their users. */
export async function usersOf<Role extends string>(
  { prisma }: Pick<ConsoleDeps, 'prisma'>,
  rows: RoleRow<Role>[],
): Promise<UserWithRole<Role>[]> {
  const users = await prisma.user.findMany({
    where: { id: { in: rows.map(({ user }) => user) } },
    select: { id: true, email: true, name: true },
  })
  const byId = new Map(users.map((user) => [user.id, user]))
  return rows.map(({ user, role, createdAt }) => {
    return { ...byId.get(user)!, role: role as Role, createdAt: createdAt.toISOString() }
  })
}

// An Admin suspends a membership: it has no effect in the organization, neither for the user nor for keys that they
// created, until it is resumed. The user remains one of the installation and of their other organizations, so their
// sessions and personal tokens do not end. Roles and grants stay: a suspended owner still owns their project, so no
// Admin may appoint another one in their place.

type SuspendDeps = Pick<ConsoleDeps, 'prisma' | 'ledger'>

/** POST …/members/{user}/suspend. Repeating it changes nothing. */
export function suspendMember(deps: SuspendDeps): Handler<'suspendMember'> {
  return async (call, res) => {
    const { user: by, tenant } = await inTenant(deps.prisma, call, res, 'users.manage')
    const user = call.id('user')
    const row = await setSuspended(deps, { by, tenant, user, isSuspended: true })
    await passBarrier(deps, await projectsOfKeys(deps, { tenant, createdBy: user }))
    const [member] = await membersOf(deps, [row], true)
    res.json(member)
  }
}

/** POST …/members/{user}/resume */
export function resumeMember(deps: SuspendDeps): Handler<'resumeMember'> {
  return async (call, res) => {
    const { user: by, tenant } = await inTenant(deps.prisma, call, res, 'users.manage')
    const user = call.id('user')
    const row = await setSuspended(deps, { by, tenant, user, isSuspended: false })
    const [member] = await membersOf(deps, [row], true)
    res.json(member)
  }
}

interface Suspension {
  by: User
  tenant: string
  user: string
  isSuspended: boolean
}

/** @throws Refusal `not_found`, `last_admin` */
async function setSuspended(deps: SuspendDeps, { by, tenant, user, isSuspended }: Suspension) {
  return changePermissions(deps, tenant, async (tx) => {
    await authorizeInTenant(tx, by, tenant, 'users.manage')
    const where = { tenant_user: { tenant, user } }
    const before = await tx.membership.findUnique({ where })
    if (!before) throw refuse('not_found', {})
    if ((before.suspendedAt !== null) === isSuspended) return before
    if (isSuspended && before.role === 'Admin') await stopBeingAdmin(tx, tenant, { user, by: by.id })
    const row = await tx.membership.update({ where, data: { suspendedAt: isSuspended ? new Date() : null } })
    const action = isSuspended ? 'member.suspend' : 'member.resume'
    await recordChange(tx, { tenant, user: by.id, action, subject: user })
    return row
  })
}
