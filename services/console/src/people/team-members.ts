import type { TeamRole } from '@gateway/contracts/console/roles'
import { refuse } from '@gateway/contracts/refusal'
import { recordChange } from '../audit/record-change.ts'
import { projectsOfKeys } from '../keys/projects-of-keys.ts'
import type { ConsoleDeps } from '../deps.ts'
import type { Handler } from '../request/call.ts'
import { pageOf, readIdCursor } from '../request/page.ts'
import { personOf } from '../sign-in/person.ts'
import { requireMember } from './require-member.ts'
import { peopleOf } from './people-of.ts'
import { authorizeInTenant } from '../permissions/authorize.ts'
import { changePermissions } from '../permissions/change-permissions.ts'
import { passBarrier } from '../permissions/pass-barrier.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'ledger'>

/** GET …/teams/{team}/members */
export function listTeamMembers(deps: Deps): Handler<'listTeamMembers'> {
  const { prisma } = deps
  return async (call, res) => {
    const tenant = call.id('tenant')
    await authorizeInTenant(deps, personOf(res), tenant, 'teams.read')
    const team = await teamOf({ prisma }, tenant, call.id('team'))
    const { cursor, limit } = call.query()
    const rows = await prisma.teamMember.findMany({
      where: { team, person: { gt: readIdCursor(cursor, 'per_') } },
      orderBy: { person: 'asc' },
      take: limit + 1,
    })
    const people = await peopleOf<TeamRole>(deps, rows)
    res.json(pageOf(people, limit, ({ id }) => id))
  }
}

/** POST …/teams/{team}/members: puts a member of the organization into the team, or gives it another role there. */
export function setTeamMember(deps: Deps): Handler<'setTeamMember'> {
  const { prisma } = deps
  return async (call, res) => {
    const by = personOf(res)
    const tenant = call.id('tenant')
    await authorizeInTenant(deps, by, tenant, 'teams.manage')
    const team = await teamOf({ prisma }, tenant, call.id('team'))
    const { person, role } = await call.body()
    const made = await changePermissions(deps, tenant, async (tx) => {
      await authorizeInTenant({ prisma: tx }, by, tenant, 'teams.manage')
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
export function removeTeamMember(deps: Deps): Handler<'removeTeamMember'> {
  const { prisma } = deps
  return async (call, res) => {
    const by = personOf(res)
    const tenant = call.id('tenant')
    await authorizeInTenant(deps, by, tenant, 'teams.manage')
    const team = await teamOf({ prisma }, tenant, call.id('team'))
    const person = call.id('person')
    const removed = await changePermissions(deps, tenant, async (tx) => {
      await authorizeInTenant({ prisma: tx }, by, tenant, 'teams.manage')
      const { count } = await tx.teamMember.deleteMany({ where: { team, person } })
      if (count === 0) return false
      const what = { action: 'team-member.remove', subject: team, details: { person } }
      await recordChange(tx, { tenant, person: by.id, ...what })
      return true
    })
    const projects = await prisma.project.findMany({ where: { team }, select: { id: true } })
    const owned = projects.map(({ id }) => id)
    await passBarrier(deps, await projectsOfKeys({ prisma }, { createdBy: person, project: { in: owned } }))
    if (!removed) throw refuse('not_found', {})
    res.status(204).end()
  }
}

async function teamOf({ prisma }: Pick<Deps, 'prisma'>, tenant: string, id: string): Promise<string> {
  const team = await prisma.team.findFirst({ where: { id, tenant }, select: { id: true } })
  if (team) return team.id
  throw refuse('not_found', {})
}
