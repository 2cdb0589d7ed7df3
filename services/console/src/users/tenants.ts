import { type TenantRecord } from '@gateway/api/console/users'
import { refuse } from '@gateway/api/refusal'
import { recordChange } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import type { Handler } from '../request/call.ts'
import { createOnce } from '../request/create-once.ts'
import { idsAfter, pageOf } from '../request/page.ts'
import { deleteTokens } from '../sign-in/access-tokens.ts'
import { userOf } from '../sign-in/user.ts'
import { authorizeInTenant, authorizeOnPlatform, changePermissions, inTenant } from '../permissions/authorize.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'newId'>

/** GET /api/v2/tenants: organizations of the user; all for the platform operator. */
export function listTenants({ prisma }: Deps): Handler<'listTenants'> {
  return async (call, res) => {
    const user = userOf(res)
    const { cursor, limit } = call.query()
    const memberships = user.platformOperator
      ? null
      : user.token
        ? [user.token]
        : await prisma.membership.findMany({ where: { user: user.id, suspendedAt: null }, select: { tenant: true } })
    const rows = await prisma.tenant.findMany({
      where: {
        id: { ...idsAfter(cursor, 'ten_'), ...(memberships && { in: memberships.map(({ tenant }) => tenant) }) },
      },
      orderBy: { id: 'desc' },
      take: limit + 1,
    })
    res.json(pageOf(rows.map(tenantRecord), limit, ({ id }) => id))
  }
}

/** POST /api/v2/tenants: creates an organization. Its creator becomes the first Admin. */
export function createTenant(deps: Deps): Handler<'createTenant'> {
  const { newId } = deps
  return async (call, res) => {
    const user = userOf(res)
    authorizeOnPlatform(user, 'tenants.create')
    const { name } = await call.body()
    await createOnce(deps, call, res, async (tx) => {
      const created = await tx.tenant.create({ data: { id: newId('ten'), name } })
      await tx.membership.create({ data: { tenant: created.id, user: user.id, role: 'Admin' } })
      const what = { action: 'tenant.create' as const, subject: created.id, details: { name } }
      await recordChange(tx, { tenant: created.id, user: user.id, ...what })
      return { body: tenantRecord(created) }
    })
  }
}

/** PATCH /api/v2/tenants/{t}. An Admin without a second factor can't require one: they would lock themselves out. */
export function changeTenant(deps: Deps): Handler<'changeTenant'> {
  return async (call, res) => {
    const { user, tenant: id } = await inTenant(deps.prisma, call, res, 'tenants.change')
    const { requireSecondFactor } = await call.body()
    if (requireSecondFactor && !user.secondFactor) throw refuse('second_factor_required', {})
    const changed = await changePermissions(deps, id, async (tx) => {
      await authorizeInTenant(tx, user, id, 'tenants.change')
      const row = await tx.tenant.update({ where: { id }, data: { requireSecondFactor } })
      const what = { action: 'tenant.change' as const, subject: id, details: { requireSecondFactor } }
      await recordChange(tx, { tenant: id, user: user.id, ...what })
      return row
    })
    res.json(tenantRecord(changed))
  }
}

/** DELETE /api/v2/tenants/{t}: deletes an organization without projects and keys. Its audit log remains. */
export function deleteTenant(deps: Deps): Handler<'deleteTenant'> {
  const { prisma } = deps
  return async (call, res) => {
    const { user, tenant: id } = await inTenant(deps.prisma, call, res, 'tenants.delete')
    await prisma.$transaction(async (tx) => {
      await tx.$queryRaw`SELECT FROM control.tenants WHERE id = ${id} FOR UPDATE` // blocks new rows that reference it
      const what = 'The organization'
      if (await tx.project.findFirst({ where: { tenant: id } })) throw refuse('not_empty', { what, holds: 'projects' })
      if (await tx.key.findFirst({ where: { tenant: id } })) throw refuse('not_empty', { what, holds: 'keys' })
      const teams = await tx.team.findMany({ where: { tenant: id }, select: { id: true } })
      await tx.teamMember.deleteMany({ where: { team: { in: teams.map((team) => team.id) } } })
      await tx.team.deleteMany({ where: { tenant: id } })
      await tx.membership.deleteMany({ where: { tenant: id } })
      const tokens = await deleteTokens(tx, { tenant: id })
      await tx.invitation.deleteMany({ where: { tenant: id } })
      const { count } = await tx.tenant.deleteMany({ where: { id } })
      if (count === 0) throw refuse('not_found', {})
      await recordChange(tx, { tenant: id, user: user.id, action: 'tenant.delete', subject: id, details: { tokens } })
    })
    res.status(204).end()
  }
}

function tenantRecord({ createdAt, ...tenant }: Omit<TenantRecord, 'createdAt'> & { createdAt: Date }): TenantRecord {
  const { id, name, requireSecondFactor } = tenant
  return { id, name, requireSecondFactor, createdAt: createdAt.toISOString() }
}
