import type { ProjectRole } from '@gateway/api/console/fields'
import type { GrantRecord } from '@gateway/api/console/projects'
import { refuse } from '@gateway/api/refusal'
import { recordChange, type Transaction } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import type { Handler } from '../request/call.ts'
import { usersOf, requireMember } from '../users/members.ts'
import { newestRolesFirst, pageOf, rolesAfter, timeCursor } from '../request/page.ts'
import { type User, userOf } from '../sign-in/user.ts'
import { authorizeInProject, changePermissions, inProject, passBarrier } from '../permissions/authorize.ts'
import { holds, permissions } from '../permissions/permissions.ts'
import { rolesInProject } from '../permissions/roles.ts'
import { appointLater, hasOwner, noteFormerOwners } from './appointments.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'ledger' | 'now' | 'appointmentDelayMs'>

/** GET …/projects/{p}/grants */
export function listGrants(deps: Deps): Handler<'listGrants'> {
  const { prisma } = deps
  return async (call, res) => {
    const { project } = await inProject(deps.prisma, call, res, 'grants.read')
    const { cursor, limit } = call.query()
    const rows = await prisma.projectGrant.findMany({
      where: { project, ...rolesAfter(cursor) },
      orderBy: newestRolesFirst,
      take: limit + 1,
    })
    res.json(pageOf(await grantRecords(deps, rows), limit, timeCursor))
  }
}

/**
 * POST …/projects/{p}/grants: sets the role of a member of the organization. A new role can remove permissions. The
 * owner of a project that lost its owners becomes one later (appointments.ts). No role includes the right to read captured
 * content: it stays as it is unless the body has it.
 */
export function setGrant(deps: Deps): Handler<'setGrant'> {
  const { prisma } = deps
  return async (call, res) => {
    const by = userOf(res)
    const tenant = call.id('tenant')
    const project = call.id('project')
    await authorizeGrant(deps.prisma, by, { tenant, project, role: null })
    const { user, role, readsContent } = await call.body()
    const made = await changePermissions(deps, tenant, async (tx) => {
      const { isAppointing } = await authorizeGrant(tx, by, { tenant, project, role })
      await requireMember(tx, tenant, user)
      const appointment = isAppointing ? await appointLater(deps, tx, by, { tenant, project, user }) : null
      if (appointment !== null) return { appointment }
      const key = { project_user: { project, user } }
      const before = await tx.projectGrant.findUnique({ where: key })
      if (before !== null && role !== 'Project Owner') await noteFormerOwners(tx, [before])
      const given = { role, ...(readsContent !== undefined && { readsContent }) }
      const row = await tx.projectGrant.upsert({ where: key, create: { project, user, ...given }, update: given })
      const what = {
        action: 'grant.set' as const,
        subject: project,
        details: { user, ...given, before: before?.role ?? null },
      }
      await recordChange(tx, { tenant, user: by.id, ...what })
      return { row, isNew: before === null }
    })
    if ('appointment' in made) return void res.status(202).json(made.appointment)
    if (!made.isNew) await passBarrier(deps, [project])
    const [grant] = await grantRecords({ prisma }, [made.row])
    res.status(made.isNew ? 201 : 200).json(grant)
  }
}

/** DELETE …/projects/{p}/grants/{user} */
export function removeGrant(deps: Deps): Handler<'removeGrant'> {
  return async (call, res) => {
    const { user: by, tenant, project } = await inProject(deps.prisma, call, res, 'grants.manage')
    const user = call.id('user')
    const removed = await changePermissions(deps, tenant, async (tx) => {
      await authorizeInProject(tx, by, tenant, project, 'grants.manage')
      const before = await tx.projectGrant.findUnique({ where: { project_user: { project, user } } })
      if (before === null) return false
      await tx.projectGrant.delete({ where: { project_user: { project, user } } })
      await noteFormerOwners(tx, [before])
      const what = { action: 'grant.remove' as const, subject: project, details: { user } }
      await recordChange(tx, { tenant, user: by.id, ...what })
      return true
    })
    await passBarrier(deps, [project])
    if (!removed) throw refuse('not_found', {})
    res.status(204).end()
  }
}

interface GrantRow {
  user: string
  role: string
  createdAt: Date
  readsContent: boolean
}

async function grantRecords(deps: Pick<Deps, 'prisma'>, rows: GrantRow[]): Promise<GrantRecord[]> {
  const users = await usersOf<ProjectRole>(deps, rows)
  return users.map((user, at) => ({ ...user, readsContent: rows[at]!.readsContent }))
}

interface Asked {
  tenant: string
  project: string
  /** null: not known yet. */
  role: ProjectRole | null
}

/**
 * Admits users who may grant a role on a project: only its owners. If a project has no owner left, an Admin or a
 * platform operator may appoint one, because otherwise it could never have one again (rules §7.3).
 * @throws Refusal `not_found`, `not_permitted`
 */
async function authorizeGrant(
  prisma: Transaction,
  user: User,
  { tenant, project, role }: Asked,
): Promise<{ isAppointing: boolean }> {
  const found = await rolesInProject(prisma, user, tenant, project)
  if (!found || !holds(found.roles, 'owners.appoint') || found.roles.project === 'Project Owner') {
    await authorizeInProject(prisma, user, tenant, project, 'grants.manage')
    return { isAppointing: false }
  }
  const mayAppoint = role === null || role === 'Project Owner'
  if (!mayAppoint || (await hasOwner(prisma, tenant, project)))
    throw refuse('not_permitted', { need: permissions['grants.manage'].need })
  return { isAppointing: true }
}
