import type { RequestHandler } from 'express'
import { pageQuery } from '@gateway/contracts/console/page'
import { newTeamMemberBody } from '@gateway/contracts/console/people'
import type { TeamRole } from '@gateway/contracts/console/roles'
import { refuse } from '@gateway/contracts/refusal'
import { recordChange } from '../audit/record-change.ts'
import { projectsOfKeys } from '../keys/projects-of-keys.ts'
import type { ConsoleDeps } from '../needs.ts'
import { checkedBody, checkedQuery, pathIdOf } from '../receive/check.ts'
import { pageOf } from '../receive/page.ts'
import type { ChangePermissions } from '../permissions/change-permissions.ts'
import type { Authorize } from '../permissions/authorize.ts'
import type { PassBarrier } from '../permissions/pass-barrier.ts'
import { personOf } from '../sign-in/person.ts'
import { requireMember } from './require-member.ts'
import { peopleOf } from './people-of.ts'

type Deps = Pick<ConsoleDeps, 'prisma'> & {
  authorize: Authorize
  changePermissions: ChangePermissions
  passBarrier: PassBarrier
}

/** GET …/teams/{team}/members */
export function listTeamMembers({ prisma, authorize }: Deps): RequestHandler {
  return async (req, res) => {
    const tenant = pathIdOf(req, 'tenant')
    await authorize.inTenant(personOf(res), tenant, 'teams.read')
    const team = await teamOf({ prisma }, tenant, pathIdOf(req, 'team'))
    const { cursor = '', limit } = checkedQuery(req, pageQuery)
    const rows = await prisma.teamMember.findMany({
      where: { team, person: { gt: cursor } },
      orderBy: { person: 'asc' },
      take: limit + 1,
    })
    const { data, nextCursor } = pageOf(rows, limit, ({ person }) => person)
    res.json({ data: await peopleOf<TeamRole>({ prisma }, data), nextCursor })
  }
}

/** POST …/teams/{team}/members: puts a member of the organization into the team, or gives it another role there. */
export function setTeamMember({ prisma, authorize, changePermissions }: Deps): RequestHandler {
  return async (req, res) => {
    const by = personOf(res)
    const tenant = pathIdOf(req, 'tenant')
    await authorize.inTenant(by, tenant, 'teams.manage')
    const team = await teamOf({ prisma }, tenant, pathIdOf(req, 'team'))
    const { person, role } = await checkedBody(req, newTeamMemberBody)
    const made = await changePermissions(tenant, async (tx, authorizeNow) => {
      await authorizeNow.inTenant(by, tenant, 'teams.manage')
      await requireMember(tx, tenant, person)
      const key = { team_person: { team, person } }
      const before = await tx.teamMember.findUnique({ where: key })
      const row = await tx.teamMember.upsert({ where: key, create: { team, person, role }, update: { role } })
      const what = { action: 'team-member.set', subject: team, details: { person, role, before: before?.role ?? null } }
      await recordChange(tx, { tenant, person: by.id, ...what })
      return { row, isNew: before === null }
    })
    const [member] = await peopleOf<TeamRole>({ prisma }, [made.row])
    res.status(made.isNew ? 201 : 200).json(member)
  }
}

/** DELETE …/teams/{team}/members/{person} */
export function removeTeamMember({ prisma, authorize, changePermissions, passBarrier }: Deps): RequestHandler {
  return async (req, res) => {
    const by = personOf(res)
    const tenant = pathIdOf(req, 'tenant')
    await authorize.inTenant(by, tenant, 'teams.manage')
    const team = await teamOf({ prisma }, tenant, pathIdOf(req, 'team'))
    const person = pathIdOf(req, 'person')
    const removed = await changePermissions(tenant, async (tx, authorizeNow) => {
      await authorizeNow.inTenant(by, tenant, 'teams.manage')
      const { count } = await tx.teamMember.deleteMany({ where: { team, person } })
      if (count === 0) return false
      const what = { action: 'team-member.remove', subject: team, details: { person } }
      await recordChange(tx, { tenant, person: by.id, ...what })
      return true
    })
    const projects = await prisma.project.findMany({ where: { team }, select: { id: true } })
    const owned = projects.map(({ id }) => id)
    await passBarrier(await projectsOfKeys({ prisma }, { createdBy: person, project: { in: owned } }))
    if (!removed) throw refuse('not_found', {})
    res.status(204).end()
  }
}

async function teamOf({ prisma }: Pick<Deps, 'prisma'>, tenant: string, id: string): Promise<string> {
  const team = await prisma.team.findFirst({ where: { id, tenant }, select: { id: true } })
  if (team) return team.id
  throw refuse('not_found', {})
}
