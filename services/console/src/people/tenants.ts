import type { RequestHandler } from 'express'
import { pageQuery } from '@gateway/contracts/console/page'
import { type TenantRecord, newTenantBody } from '@gateway/contracts/console/people'
import { refuse } from '@gateway/contracts/refusal'
import { recordChange } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../needs.ts'
import { checkedBody, checkedQuery, pathIdOf } from '../receive/check.ts'
import { mapPage, pageOf } from '../receive/page.ts'
import type { Authorize } from '../permissions/authorize.ts'
import { personOf } from '../sign-in/person.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'mint'> & { authorize: Authorize }

/** GET /api/v2/tenants: those I belong to; the platform operator sees all. */
export function listTenants({ prisma }: Deps): RequestHandler {
  return async (req, res) => {
    const person = personOf(res)
    const { cursor = '', limit } = checkedQuery(req, pageQuery)
    const memberships = person.platformOperator
      ? null
      : await prisma.membership.findMany({ where: { person: person.id }, select: { tenant: true } })
    const rows = await prisma.tenant.findMany({
      where: { id: { gt: cursor, ...(memberships && { in: memberships.map(({ tenant }) => tenant) }) } },
      orderBy: { id: 'asc' },
      take: limit + 1,
    })
    res.json(
      mapPage(
        pageOf(rows, limit, ({ id }) => id),
        tenantRecord,
      ),
    )
  }
}

/** POST /api/v2/tenants: a new organization, whose first Admin is its creator. */
export function createTenant({ prisma, mint, authorize }: Deps): RequestHandler {
  return async (req, res) => {
    const person = personOf(res)
    authorize.onPlatform(person, 'tenants.create')
    const { name } = await checkedBody(req, newTenantBody)
    const tenant = await prisma.$transaction(async (tx) => {
      const created = await tx.tenant.create({ data: { id: mint('ten'), name } })
      await tx.membership.create({ data: { tenant: created.id, person: person.id, role: 'Admin' } })
      const what = { action: 'tenant.create', subject: created.id, details: { name } }
      await recordChange(tx, { tenant: created.id, person: person.id, ...what })
      return created
    })
    res.status(201).json(tenantRecord(tenant))
  }
}

/** DELETE /api/v2/tenants/{t}: an organization that holds no project and no key any more. Its audit log stays. */
export function deleteTenant({ prisma, authorize }: Deps): RequestHandler {
  return async (req, res) => {
    const person = personOf(res)
    const id = pathIdOf(req, 'tenant')
    await authorize.inTenant(person, id, 'tenants.delete')
    await prisma.$transaction(async (tx) => {
      await tx.$queryRaw`SELECT FROM control.tenants WHERE id = ${id} FOR UPDATE` // nothing can be put in meanwhile
      const what = 'The organization'
      if (await tx.project.findFirst({ where: { tenant: id } })) throw refuse('not_empty', { what, holds: 'projects' })
      if (await tx.key.findFirst({ where: { tenant: id } })) throw refuse('not_empty', { what, holds: 'keys' })
      const teams = await tx.team.findMany({ where: { tenant: id }, select: { id: true } })
      await tx.teamMember.deleteMany({ where: { team: { in: teams.map((team) => team.id) } } })
      await tx.team.deleteMany({ where: { tenant: id } })
      await tx.membership.deleteMany({ where: { tenant: id } })
      const { count } = await tx.tenant.deleteMany({ where: { id } })
      if (count === 0) throw refuse('not_found', {})
      await recordChange(tx, { tenant: id, person: person.id, action: 'tenant.delete', subject: id })
    })
    res.status(204).end()
  }
}

function tenantRecord({ id, name, createdAt }: { id: string; name: string; createdAt: Date }): TenantRecord {
  return { id, name, createdAt: createdAt.toISOString() }
}
