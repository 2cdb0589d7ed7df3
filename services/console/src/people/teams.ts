import type { RequestHandler } from 'express'
import { pageQuery } from '@gateway/contracts/console/page'
import { type TeamRecord, newTeamBody } from '@gateway/contracts/console/people'
import { refuse } from '@gateway/contracts/refusal'
import { recordChange } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../needs.ts'
import { checkedBody, checkedQuery, pathIdOf } from '../receive/check.ts'
import { mapPage, pageOf } from '../receive/page.ts'
import type { Authorize } from '../permissions/authorize.ts'
import { personOf } from '../sign-in/person.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'mint'> & { authorize: Authorize }

/** GET …/teams */
export function listTeams({ prisma, authorize }: Deps): RequestHandler {
  return async (req, res) => {
    const tenant = pathIdOf(req, 'tenant')
    await authorize.inTenant(personOf(res), tenant, 'teams.read')
    const { cursor = '', limit } = checkedQuery(req, pageQuery)
    const rows = await prisma.team.findMany({
      where: { tenant, id: { gt: cursor } },
      orderBy: { id: 'asc' },
      take: limit + 1,
    })
    res.json(
      mapPage(
        pageOf(rows, limit, ({ id }) => id),
        teamRecord,
      ),
    )
  }
}

/** POST …/teams: a new team, whose first Team Owner is its creator. */
export function createTeam({ prisma, mint, authorize }: Deps): RequestHandler {
  return async (req, res) => {
    const person = personOf(res)
    const tenant = pathIdOf(req, 'tenant')
    await authorize.inTenant(person, tenant, 'teams.manage')
    const { name } = await checkedBody(req, newTeamBody)
    const team = await prisma.$transaction(async (tx) => {
      const created = await tx.team.create({ data: { id: mint('tea'), tenant, name } })
      await tx.teamMember.create({ data: { team: created.id, person: person.id, role: 'Team Owner' } })
      const what = { action: 'team.create', subject: created.id, details: { name } }
      await recordChange(tx, { tenant, person: person.id, ...what })
      return created
    })
    res.status(201).json(teamRecord(team))
  }
}

/** DELETE …/teams/{team}: a team that owns no project any more. */
export function deleteTeam({ prisma, authorize }: Deps): RequestHandler {
  return async (req, res) => {
    const person = personOf(res)
    const tenant = pathIdOf(req, 'tenant')
    await authorize.inTenant(person, tenant, 'teams.manage')
    const id = pathIdOf(req, 'team')
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
