import type { TenantRole } from '@gateway/api/console/fields'
import { endedKinds } from '@gateway/api/console/leaving'
import { refuse } from '@gateway/api/refusal'
import { recordChange, type Transaction } from '../audit/record-change.ts'
import { projectsOfKeys } from '../keys/list-keys.ts'
import type { ConsoleDeps } from '../deps.ts'
import type { Handler } from '../request/call.ts'
import { pageOf, readIdCursor } from '../request/page.ts'
import { userOf } from '../sign-in/user.ts'
import { holds } from '../permissions/permissions.ts'
import { authorizeInTenant, changePermissions, passBarrier } from '../permissions/authorize.ts'
import type { MemberRecord, newMemberBody } from '@gateway/api/console/users'
import type { z } from 'zod'
import { invalidField } from '../request/check.ts'
import { endMade, endRoles } from './leaving.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'newId' | 'ledger' | 'passwords'>

/** GET …/members */
export function listMembers(deps: Deps): Handler<'listMembers'> {
  const { prisma } = deps
  return async (call, res) => {
    const tenant = call.id('tenant')
    const roles = await authorizeInTenant(deps.prisma, userOf(res), tenant, 'users.read')
    const { cursor, limit } = call.query()
    const rows = await prisma.membership.findMany({
      where: { tenant, user: { gt: readIdCursor(cursor, 'usr_') } },
      orderBy: { user: 'asc' },
      take: limit + 1,
    })
    const users = await membersOf(deps, rows, holds(roles, 'users.manage'))
    res.json(pageOf(users, limit, ({ id }) => id))
  }
}

/**
 * POST …/members: adds a user or changes the role of a member. `email` identifies a user who is new to the service or
 * whose email is proven; `user`, the ID, identifies any user (0005-signing-in.md).
 */
export function setMember(deps: Deps): Handler<'setMember'> {
  const { prisma, newId, passwords } = deps
  return async (call, res) => {
    const by = userOf(res)
    const tenant = call.id('tenant')
    await authorizeInTenant(deps.prisma, by, tenant, 'users.manage')
    const body = await call.body()
    const passwordHash = body.password === undefined ? null : await passwords.hash(body.password)
    const made = await changePermissions(deps, tenant, async (tx) => {
      await authorizeInTenant(tx, by, tenant, 'users.manage')
      const { user, isNewUser } = await userToAdd(tx, {
        ...body,
        tenant,
        passwordHash,
        newUserId: newId('usr'),
      })
      const { role } = body
      const before = await tx.membership.findUnique({ where: { tenant_user: { tenant, user: user.id } } })
      if (before === null && body.email !== undefined) requireKnownEmail(user, tenant)
      if (before?.role === 'Admin' && before.suspendedAt === null && role !== 'Admin') await keepAnAdmin(tx, tenant)
      const row = await tx.membership.upsert({
        where: { tenant_user: { tenant, user: user.id } },
        create: { tenant, user: user.id, role },
        update: { role },
      })
      const details = { role, before: before?.role ?? null, ...(isNewUser && { newUser: true }) }
      await recordChange(tx, { tenant, user: by.id, action: 'member.set', subject: user.id, details })
      return { row, isNew: before === null }
    })
    const [member] = await membersOf({ prisma }, [made.row], true)
    res.status(made.isNew ? 201 : 200).json(member)
  }
}

/**
 * DELETE …/members/{user}: ends the user's roles in teams and projects too and, where asked, what the user made. Answers
 * what lives on (leaving.ts).
 */
export function removeMember(deps: Deps): Handler<'removeMember'> {
  const { prisma } = deps
  return async (call, res) => {
    const by = userOf(res)
    const tenant = call.id('tenant')
    await authorizeInTenant(deps.prisma, by, tenant, 'users.manage')
    const user = call.id('user')
    const end = endedKinds(call.query().end)
    const removal = await changePermissions(deps, tenant, async (tx) => {
      await authorizeInTenant(tx, by, tenant, 'users.manage')
      const before = await tx.membership.findUnique({ where: { tenant_user: { tenant, user } } })
      if (!before) return null
      if (before.role === 'Admin' && before.suspendedAt === null) await keepAnAdmin(tx, tenant)
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

/** @throws Refusal `last_admin` */
export async function keepAnAdmin(tx: Transaction, tenant: string): Promise<void> {
  if ((await tx.membership.count({ where: { tenant, role: 'Admin', suspendedAt: null } })) <= 1)
    throw refuse('last_admin', {})
}

interface NewMember extends Pick<z.output<typeof newMemberBody>, 'email' | 'user' | 'name' | 'password'> {
  tenant: string
  passwordHash: string | null
  /** ID for a user who does not exist yet. */
  newUserId: string
}

interface Known {
  id: string
  vouchedBy: string | null
}

/**
 * Returns the user with this ID or email; creates them if the email is new.
 * @throws Refusal `already_exists`, `invalid_request`
 */
async function userToAdd(tx: Transaction, wanted: NewMember): Promise<{ user: Known; isNewUser: boolean }> {
  const { email, name, password, passwordHash } = wanted
  const select = { id: true, vouchedBy: true }
  if (email === undefined) {
    const user = await tx.user.findUnique({ where: { id: wanted.user ?? '' }, select })
    if (user) return { user, isNewUser: false }
    throw invalidField('user', 'is not a known user.', 'Send the ID that the user finds at GET /api/v2/me.')
  }
  const vouchedBy = passwordHash === null ? null : wanted.tenant
  const created = { id: wanted.newUserId, email, name: name ?? email.split('@')[0]!, passwordHash, vouchedBy }
  const { count } = await tx.user.createMany({ data: [created], skipDuplicates: true })
  // An Admin of one organization must not set the name or password of a user who is also in other organizations.
  if (count === 0 && (name !== undefined || password !== undefined))
    throw refuse('already_exists', { what: 'A user with this email (leave out name and password to add them)' })
  return { user: await tx.user.findUniqueOrThrow({ where: { email }, select }), isNewUser: count > 0 }
}

/**
 * If an Admin of another organization created this user, that Admin knows the first password and may be the only person
 * who has used it: access given to the email could go to that Admin.
 * @throws Refusal `invalid_request`
 */
function requireKnownEmail({ vouchedBy }: Known, tenant: string): void {
  if (vouchedBy === null || vouchedBy === tenant) return
  throw invalidField(
    'email',
    'belongs to a user that another organization added and who has not confirmed it yet.',
    'Send `user`, the ID that they find at GET /api/v2/me, or have them sign in once through the sign-in provider.',
  )
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
export async function membersOf(
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
