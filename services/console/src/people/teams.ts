import { type TeamRecord } from '@gateway/contracts/console/people'
import { refuse } from '@gateway/contracts/refusal'
import { recordChange } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import type { Handler } from '../request/call.ts'
import { createOnce } from '../request/create-once.ts'
import { pageOf, readIdCursor } from '../request/page.ts'
import { personOf } from '../sign-in/person.ts'
import { authorizeInTenant } from '../permissions/authorize.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'newId'>

/** GET …/teams */
export function listTeams(deps: Deps): Handler<'listTeams'> {
  const { prisma } = deps
  return async (call, res) => {
    const tenant = call.id('tenant')
    await authorizeInTenant(deps, personOf(res), tenant, 'teams.read')
    const { cursor, limit } = call.query()
    const rows = await prisma.team.findMany({
      where: { tenant, id: { gt: readIdCursor(cursor, 'tea_') } },
      orderBy: { id: 'asc' },
      take: limit + 1,
    })
    res.json(pageOf(rows.map(teamRecord), limit, ({ id }) => id))
  }
}

/** POST …/teams: a new team, whose first Team Owner is its creator. */
export function createTeam(deps: Deps): Handler<'createTeam'> {
  const { newId } = deps
  return async (call, res) => {
    const person = personOf(res)
    const tenant = call.id('tenant')
    await authorizeInTenant(deps, person, tenant, 'teams.manage')
    const { name } = await call.body()
    await createOnce(deps, call, res, async (tx) => {
      const created = await tx.team.create({ data: { id: newId('tea'), tenant, name } })
      await tx.teamMember.create({ data: { team: created.id, person: person.id, role: 'Team Owner' } })
      const what = { action: 'team.create', subject: created.id, details: { name } }
      await recordChange(tx, { tenant, person: person.id, ...what })
      return { body: teamRecord(created) }
    })
  }
}

/** DELETE …/teams/{team}: a team that owns no project any more. */
export function deleteTeam(deps: Deps): Handler<'deleteTeam'> {
  const { prisma } = deps
  return async (call, res) => {
    const person = personOf(res)
    const tenant = call.id('tenant')
    await authorizeInTenant(deps, person, tenant, 'teams.manage')
    const id = call.id('team')
    await prisma.$transaction(async (tx) => {
      await tx.$queryRaw`SELECT FROM control.teams WHERE id = ${id} FOR UPDATE` // it can own nothing new meanwhile
      if (!(await tx.team.findFirst({ where: { id, tenant } }))) throw refuse('not_found', {})
      if (await tx.project.findFirst({ where: { team: id } }))
        throw refuse('not_empty', { what: 'The team', holds: 'projects' })
      await tx.teamMember.deleteMany({ where: { team: id } })
      await tx.team.delete({ where: { id } })
      await recordChange(tx, { tenant, person: person.id, action: 'team.delete', subject: id })
    })
    res.status(204).end()
  }
}

function teamRecord({ id, name, createdAt }: { id: string; name: string; createdAt: Date }): TeamRecord {
  return { id, name, createdAt: createdAt.toISOString() }
}
