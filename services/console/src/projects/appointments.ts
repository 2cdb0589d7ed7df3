import type { AppointmentRecord } from '@gateway/api/console/users'
import type { Prisma } from '@gateway/database/client'
import { refuse } from '@gateway/api/refusal'
import { recordChange, type Transaction } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import { changePermissions } from '../permissions/authorize.ts'
import type { Handler } from '../request/call.ts'
import { idsAfter, pageOf } from '../request/page.ts'
import { activeMembership } from '../permissions/roles.ts'
import { onlyUserOf, type User } from '../sign-in/user.ts'

// An Admin could make themselves the owner of any project by removing its owners (decision 27). Therefore:
//   P1  Where a project once had an owner, an owner appointed by an Admin becomes one after a delay. Where it never had
//       one, or where a platform operator appoints, at once.
//   P2  Meanwhile the former owners and all Admins see the appointment, in the organization or not, and may object.
//   P3  After an objection only a platform operator appoints. The Admin who appointed may take it back before that.
//   P4  When the delay is over, everything is decided again: the project still has no owner, the Admin still is one, and
//       the user is still a member. Another Admin who repeats the appointment of one who no longer is Admin makes it
//       theirs, and the delay begins again.

type Deps = Pick<ConsoleDeps, 'prisma' | 'now'>
type Row = Prisma.OwnerAppointmentGetPayload<object>

/** GET /api/v2/me/appointments: of projects that the user owned, or of organizations whose Admin the user is. */
export function listAppointments(deps: Deps): Handler<'listAppointments'> {
  const { prisma } = deps
  return async (call, res) => {
    const me = onlyUserOf(res)
    const { cursor, limit } = call.query()
    const rows = await prisma.ownerAppointment.findMany({
      where: { AND: [await concerning(prisma, me), { project: idsAfter(cursor, 'prj_') }] },
      orderBy: { project: 'desc' },
      take: limit + 1,
    })
    res.json(pageOf(await recordsOf(prisma, rows), limit, ({ project }) => project))
  }
}

/** DELETE /api/v2/me/appointments/{project}: objects to it; the Admin who made it takes it back. P3 */
export function objectToAppointment(deps: Deps): Handler<'objectToAppointment'> {
  const { prisma, now } = deps
  return async (call, res) => {
    const me = onlyUserOf(res)
    const project = call.id('project')
    const find = async (tx: Transaction) =>
      tx.ownerAppointment.findFirst({ where: { AND: [{ project }, await concerning(tx, me)] } })
    const seen = await find(prisma)
    if (!seen) throw refuse('not_found', {})
    const { tenant } = seen
    await changePermissions(deps, tenant, async (tx) => {
      const found = await find(tx)
      if (!found) throw refuse('not_found', {})
      if (found.objectedBy !== null) return
      const takesBack = found.appointedBy === me.id
      if (takesBack) await tx.ownerAppointment.delete({ where: { project } })
      else await tx.ownerAppointment.update({ where: { project }, data: { objectedBy: me.id, objectedAt: now() } })
      const action = takesBack ? 'owner.withdraw' : 'owner.object'
      await recordChange(tx, { tenant, user: me.id, action, subject: project, details: { user: found.user } })
    })
    res.status(204).end()
  }
}

/**
 * Has a user become the owner of a project without one. Returns null if the user may be its owner at once (P1).
 * @throws Refusal `not_permitted` after an objection (P3)
 */
export async function appointLater(
  { now, appointmentDelayMs }: Pick<ConsoleDeps, 'now' | 'appointmentDelayMs'>,
  tx: Transaction,
  by: User,
  { tenant, project, user }: { tenant: string; project: string; user: string },
): Promise<AppointmentRecord | null> {
  if (by.platformOperator || (await tx.formerOwner.count({ where: { project } })) === 0) {
    await tx.ownerAppointment.deleteMany({ where: { project } })
    return null
  }
  const before = await tx.ownerAppointment.findUnique({ where: { project } })
  if (before !== null && before.objectedBy !== null)
    throw refuse('not_permitted', { need: 'the platform operator role, because the appointment was objected to' })
  if (before?.user === user && (await isAdmin(tx, tenant, before.appointedBy)))
    return (await recordsOf(tx, [before]))[0]!
  const createdAt = now()
  const effectiveAt = new Date(createdAt.getTime() + appointmentDelayMs)
  const data = { tenant, user, appointedBy: by.id, createdAt, effectiveAt }
  const row = await tx.ownerAppointment.upsert({ where: { project }, create: { project, ...data }, update: data })
  const details = { user, effectiveAt: effectiveAt.toISOString() }
  await recordChange(tx, { tenant, user: by.id, action: 'owner.appoint', subject: project, details })
  return (await recordsOf(tx, [row]))[0]!
}

const BATCH = 20

/** Makes the appointments whose delay is over (P4). Returns the number. */
export async function makeAppointments(deps: Deps): Promise<number> {
  const due = await deps.prisma.ownerAppointment.findMany({
    where: { objectedBy: null, effectiveAt: { lte: deps.now() } },
    orderBy: { effectiveAt: 'asc' },
    take: BATCH,
  })
  for (const { tenant, project } of due) await changePermissions(deps, tenant, (tx) => makeOne(deps, tx, project))
  return due.length
}

async function makeOne({ now }: Deps, tx: Transaction, project: string): Promise<void> {
  const row = await tx.ownerAppointment.findFirst({
    where: { project, objectedBy: null, effectiveAt: { lte: now() } },
  })
  if (row === null) return // another replica was first, or someone objected
  const { tenant, user, appointedBy } = row
  await tx.ownerAppointment.delete({ where: { project } })
  const isValid =
    !(await hasOwner(tx, tenant, project)) &&
    (await isAdmin(tx, tenant, appointedBy)) &&
    (await activeMembership(tx, tenant, user)) !== null
  const change = { tenant, user: appointedBy, subject: project }
  if (!isValid) {
    await recordChange(tx, { ...change, action: 'owner.lapse', details: { user } })
    return
  }
  const role = 'Project Owner'
  const key = { project_user: { project, user } }
  const before = await tx.projectGrant.findUnique({ where: key })
  await tx.projectGrant.upsert({ where: key, create: { project, user, role }, update: { role } })
  await recordChange(tx, { ...change, action: 'grant.set', details: { user, role, before: before?.role ?? null } })
}

/** P4 */
async function isAdmin(tx: Transaction, tenant: string, user: string): Promise<boolean> {
  return (await activeMembership(tx, tenant, user))?.role === 'Admin'
}

/** P2 */
async function concerning(
  prisma: Transaction,
  { id: user, secondFactor }: User,
): Promise<Prisma.OwnerAppointmentWhereInput> {
  const [owned, administered] = await Promise.all([
    prisma.formerOwner.findMany({ where: { user }, select: { project: true } }),
    prisma.membership.findMany({ where: { user, role: 'Admin', suspendedAt: null }, select: { tenant: true } }),
  ])
  const requiring = await prisma.tenant.findMany({
    where: { id: { in: administered.map(({ tenant }) => tenant) }, requireSecondFactor: true },
    select: { id: true },
  })
  const closed = new Set(secondFactor ? [] : requiring.map(({ id }) => id))
  return {
    OR: [
      { project: { in: owned.map(({ project }) => project) } },
      { tenant: { in: administered.map(({ tenant }) => tenant).filter((tenant) => !closed.has(tenant)) } },
    ],
  }
}

async function recordsOf(prisma: Transaction, rows: Row[]): Promise<AppointmentRecord[]> {
  const users = rows.flatMap(({ user, appointedBy }) => [user, appointedBy])
  const [projects, tenants, names] = await Promise.all([
    prisma.project.findMany({ where: { id: { in: rows.map(({ project }) => project) } } }),
    prisma.tenant.findMany({ where: { id: { in: rows.map(({ tenant }) => tenant) } } }),
    prisma.user.findMany({ where: { id: { in: users } }, select: { id: true, name: true } }),
  ])
  const nameOf = new Map([...projects, ...tenants, ...names].map(({ id, name }) => [id, name]))
  return rows.map(({ project, tenant, user, appointedBy, createdAt, effectiveAt, objectedBy, objectedAt }) => ({
    project,
    projectName: nameOf.get(project)!,
    tenant,
    tenantName: nameOf.get(tenant)!,
    user,
    userName: nameOf.get(user)!,
    appointedBy,
    appointedByName: nameOf.get(appointedBy)!,
    createdAt: createdAt.toISOString(),
    effectiveAt: effectiveAt.toISOString(),
    objectedBy,
    objectedAt: objectedAt?.toISOString() ?? null,
  }))
}

/** Whether an owner is left who is a member: a grant has no effect without membership. */
export async function hasOwner(prisma: Transaction, tenant: string, project: string): Promise<boolean> {
  const owners = await prisma.projectGrant.findMany({
    where: { project, role: 'Project Owner' },
    select: { user: true },
  })
  const users = owners.map(({ user }) => user)
  return (await prisma.membership.count({ where: { tenant, user: { in: users } } })) > 0
}

/** Notes that users are no longer owners of projects, in the transaction that takes the role from them. */
export async function noteFormerOwners(tx: Transaction, grants: { project: string; user: string; role: string }[]) {
  const ended = grants.filter(({ role }) => role === 'Project Owner').map(({ project, user }) => ({ project, user }))
  await tx.formerOwner.createMany({ data: ended, skipDuplicates: true })
}
