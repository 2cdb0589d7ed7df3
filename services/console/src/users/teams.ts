import type { TeamRecord } from '@gateway/api/console/users'
import { refuse } from '@gateway/api/refusal'
import { recordChange, type Transaction } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import type { Handler } from '../request/call.ts'
import { createOnce } from '../request/create-once.ts'
import { idsAfter, newestRolesFirst, pageOf, rolesAfter, timeCursor } from '../request/page.ts'
import { authorizeInTenant, changePermissions, inTenant, passBarrier } from '../permissions/authorize.ts'
import type { TeamRole } from '@gateway/api/console/fields'
import { projectsOfKeys } from '../keys/list-keys.ts'
import { usersOf, requireMember } from './members.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'newId'>

/** GET …/teams */
export function listTeams(deps: Deps): Handler<'listTeams'> {
  const { prisma } = deps
  return async (call, res) => {
    const { tenant } = await inTenant(deps.prisma, call, res, 'teams.read')
    const { cursor, limit } = call.query()
    const rows = await prisma.team.findMany({
      where: { tenant, id: idsAfter(cursor, 'tea_') },
      orderBy: { id: 'desc' },
      take: limit + 1,
    })
    res.json(pageOf(rows.map(teamRecord), limit, ({ id }) => id))
  }
}

/** POST …/teams: creates a team. Its creator becomes the first Team Owner. */
export function createTeam(deps: Deps): Handler<'createTeam'> {
  const { newId } = deps
  return async (call, res) => {
    const { user, tenant } = await inTenant(deps.prisma, call, res, 'teams.manage')
    const { name } = await call.body()
    const make = async (tx: Transaction) => {
      await authorizeInTenant(tx, user, tenant, 'teams.manage')
      const created = await tx.team.create({ data: { id: newId('tea'), tenant, name } })
      await tx.teamMember.create({ data: { team: created.id, user: user.id, role: 'Team Owner' } })
      const what = { action: 'team.create' as const, subject: created.id, details: { name } }
      await recordChange(tx, { tenant, user: user.id, ...what })
      return { body: teamRecord(created) }
    }
    await createOnce(deps, call, res, make, (work) => changePermissions(deps, tenant, work))
  }
}

/** DELETE …/teams/{team}: deletes a team that owns no projects. */
export function deleteTeam(deps: Deps): Handler<'deleteTeam'> {
  const { prisma } = deps
  return async (call, res) => {
    const { user, tenant } = await inTenant(deps.prisma, call, res, 'teams.manage')
    const id = call.id('team')
    await prisma.$transaction(async (tx) => {
      await tx.$queryRaw`SELECT FROM control.teams WHERE id = ${id} FOR UPDATE` // blocks new projects of the team
      if (!(await tx.team.findFirst({ where: { id, tenant } }))) throw refuse('not_found', {})
      if (await tx.project.findFirst({ where: { team: id } }))
        throw refuse('not_empty', { what: 'The team', holds: 'projects' })
      await tx.teamMember.deleteMany({ where: { team: id } })
      await tx.team.delete({ where: { id } })
      await recordChange(tx, { tenant, user: user.id, action: 'team.delete', subject: id })
    })
    res.status(204).end()
  }
}

function teamRecord({ id, name, createdAt }: { id: string; name: string; createdAt: Date }): TeamRecord {
  return { id, name, createdAt: createdAt.toISOString() }
}

type MemberDeps = Pick<ConsoleDeps, 'prisma' | 'ledger'>

/** GET …/teams/{team}/members */
export function listTeamMembers(deps: MemberDeps): Handler<'listTeamMembers'> {
  const { prisma } = deps
  return async (call, res) => {
    const { tenant } = await inTenant(deps.prisma, call, res, 'teams.read')
    const team = await teamOf({ prisma }, tenant, call.id('team'))
    const { cursor, limit } = call.query()
    const rows = await prisma.teamMember.findMany({
      where: { team, ...rolesAfter(cursor) },
      orderBy: newestRolesFirst,
      take: limit + 1,
    })
    const users = await usersOf<TeamRole>(deps, rows)
    res.json(pageOf(users, limit, timeCursor))
  }
}

/** POST …/teams/{team}/members: adds a member of the organization to the team, or changes their role in it. */
export function setTeamMember(deps: MemberDeps): Handler<'setTeamMember'> {
  const { prisma } = deps
  return async (call, res) => {
    const { user: by, tenant } = await inTenant(deps.prisma, call, res, 'teams.manage')
    const team = await teamOf({ prisma }, tenant, call.id('team'))
    const { user, role } = await call.body()
    const made = await changePermissions(deps, tenant, async (tx) => {
      await authorizeInTenant(tx, by, tenant, 'teams.manage')
      await requireMember(tx, tenant, user)
      const key = { team_user: { team, user } }
      const before = await tx.teamMember.findUnique({ where: key })
      const row = await tx.teamMember.upsert({ where: key, create: { team, user, role }, update: { role } })
      const what = {
        action: 'team-member.set' as const,
        subject: team,
        details: { user, role, before: before?.role ?? null },
      }
      await recordChange(tx, { tenant, user: by.id, ...what })
      return { row, isNew: before === null }
    })
    const [member] = await usersOf<TeamRole>({ prisma }, [made.row])
    res.status(made.isNew ? 201 : 200).json(member)
  }
}

/** DELETE …/teams/{team}/members/{user} */
export function removeTeamMember(deps: MemberDeps): Handler<'removeTeamMember'> {
  const { prisma } = deps
  return async (call, res) => {
    const { user: by, tenant } = await inTenant(deps.prisma, call, res, 'teams.manage')
    const team = await teamOf({ prisma }, tenant, call.id('team'))
    const user = call.id('user')
    const removed = await changePermissions(deps, tenant, async (tx) => {
      await authorizeInTenant(tx, by, tenant, 'teams.manage')
      const { count } = await tx.teamMember.deleteMany({ where: { team, user } })
      if (count === 0) return false
      const what = { action: 'team-member.remove' as const, subject: team, details: { user } }
      await recordChange(tx, { tenant, user: by.id, ...what })
      return true
    })
    const projects = await prisma.project.findMany({ where: { team }, select: { id: true } })
    const owned = projects.map(({ id }) => id)
    await passBarrier(deps, await projectsOfKeys({ prisma }, { createdBy: user, project: { in: owned } }))
    if (!removed) throw refuse('not_found', {})
    res.status(204).end()
  }
}

async function teamOf({ prisma }: Pick<MemberDeps, 'prisma'>, tenant: string, id: string): Promise<string> {
  const team = await prisma.team.findFirst({ where: { id, tenant }, select: { id: true } })
  if (team) return team.id
  throw refuse('not_found', {})
}
