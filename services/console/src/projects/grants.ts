import type { RequestHandler } from 'express'
import { pageQuery } from '@gateway/contracts/console/page'
import { newGrantBody } from '@gateway/contracts/console/projects'
import type { ProjectRole } from '@gateway/contracts/console/roles'
import { refuse } from '@gateway/contracts/refusal'
import { recordChange } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../needs.ts'
import { peopleOf } from '../people/people-of.ts'
import { requireMember } from '../people/require-member.ts'
import { checkedBody, checkedQuery, pathIdOf } from '../receive/check.ts'
import { pageOf } from '../receive/page.ts'
import type { ChangePermissions } from '../permissions/change-permissions.ts'
import type { Authorize } from '../permissions/authorize.ts'
import type { PassBarrier } from '../permissions/pass-barrier.ts'
import { personOf } from '../sign-in/person.ts'

type Deps = Pick<ConsoleDeps, 'prisma'> & {
  authorize: Authorize
  changePermissions: ChangePermissions
  passBarrier: PassBarrier
}

/** GET …/projects/{p}/grants */
export function listGrants({ prisma, authorize }: Deps): RequestHandler {
  return async (req, res) => {
    const tenant = pathIdOf(req, 'tenant')
    const { id: project } = await authorize.inProject(personOf(res), tenant, pathIdOf(req, 'project'), 'grants.read')
    const { cursor = '', limit } = checkedQuery(req, pageQuery)
    const rows = await prisma.projectGrant.findMany({
      where: { project, person: { gt: cursor } },
      orderBy: { person: 'asc' },
      take: limit + 1,
    })
    const { data, nextCursor } = pageOf(rows, limit, ({ person }) => person)
    res.json({ data: await peopleOf<ProjectRole>({ prisma }, data), nextCursor })
  }
}

/** POST …/projects/{p}/grants: grants a member of the organization a role, or another one; that may take rights away. */
export function setGrant({ prisma, authorize, changePermissions, passBarrier }: Deps): RequestHandler {
  return async (req, res) => {
    const by = personOf(res)
    const tenant = pathIdOf(req, 'tenant')
    const { id: project } = await authorize.inProject(by, tenant, pathIdOf(req, 'project'), 'grants.manage')
    const { person, role } = await checkedBody(req, newGrantBody)
    const made = await changePermissions(tenant, async (tx, authorizeNow) => {
      await authorizeNow.inProject(by, tenant, project, 'grants.manage')
      await requireMember(tx, tenant, person)
      const key = { project_person: { project, person } }
      const before = await tx.projectGrant.findUnique({ where: key })
      const row = await tx.projectGrant.upsert({ where: key, create: { project, person, role }, update: { role } })
      const what = { action: 'grant.set', subject: project, details: { person, role, before: before?.role ?? null } }
      await recordChange(tx, { tenant, person: by.id, ...what })
      return { row, isNew: before === null }
    })
    if (!made.isNew) await passBarrier([project])
    const [grant] = await peopleOf<ProjectRole>({ prisma }, [made.row])
    res.status(made.isNew ? 201 : 200).json(grant)
  }
}

/** DELETE …/projects/{p}/grants/{person} */
export function removeGrant({ authorize, changePermissions, passBarrier }: Deps): RequestHandler {
  return async (req, res) => {
    const by = personOf(res)
    const tenant = pathIdOf(req, 'tenant')
    const { id: project } = await authorize.inProject(by, tenant, pathIdOf(req, 'project'), 'grants.manage')
    const person = pathIdOf(req, 'person')
    const removed = await changePermissions(tenant, async (tx, authorizeNow) => {
      await authorizeNow.inProject(by, tenant, project, 'grants.manage')
      const { count } = await tx.projectGrant.deleteMany({ where: { project, person } })
      if (count === 0) return false
      const what = { action: 'grant.remove', subject: project, details: { person } }
      await recordChange(tx, { tenant, person: by.id, ...what })
      return true
    })
    await passBarrier([project])
    if (!removed) throw refuse('not_found', {})
    res.status(204).end()
  }
}
