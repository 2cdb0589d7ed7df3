import type { TenantRole } from '@gateway/contracts/console/roles'
import { refuse } from '@gateway/contracts/refusal'
import { recordChange, type Transaction } from '../audit/record-change.ts'
import { projectsOfKeys } from '../keys/projects-of-keys.ts'
import type { ConsoleDeps } from '../deps.ts'
import type { Handler } from '../request/call.ts'
import { pageOf, readIdCursor } from '../request/page.ts'
import { personOf } from '../sign-in/person.ts'
import { peopleOf } from './people-of.ts'
import { personToAdd, requireKnownEmail } from './person-to-add.ts'
import { authorizeInTenant } from '../permissions/authorize.ts'
import { changePermissions } from '../permissions/change-permissions.ts'
import { passBarrier } from '../permissions/pass-barrier.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'newId' | 'ledger' | 'passwords'>

/** GET …/members */
export function listMembers(deps: Deps): Handler<'listMembers'> {
  const { prisma } = deps
  return async (call, res) => {
    const tenant = call.id('tenant')
    await authorizeInTenant(deps, personOf(res), tenant, 'people.read')
    const { cursor, limit } = call.query()
    const rows = await prisma.membership.findMany({
      where: { tenant, person: { gt: readIdCursor(cursor, 'per_') } },
      orderBy: { person: 'asc' },
      take: limit + 1,
    })
    const people = await peopleOf<TenantRole>(deps, rows)
    res.json(pageOf(people, limit, ({ id }) => id))
  }
}

/**
 * POST …/members: adds a person or gives a member another role. `email` names a person who is new to the service, or whose
 * e-mail is beyond doubt; `person`, the id, anybody (0005-signing-in.md).
 */
export function setMember(deps: Deps): Handler<'setMember'> {
  const { prisma, newId, passwords } = deps
  return async (call, res) => {
    const by = personOf(res)
    const tenant = call.id('tenant')
    await authorizeInTenant(deps, by, tenant, 'people.manage')
    const body = await call.body()
    const passwordHash = body.password === undefined ? null : await passwords.hash(body.password)
    const made = await changePermissions(deps, tenant, async (tx) => {
      await authorizeInTenant({ prisma: tx }, by, tenant, 'people.manage')
      const { person, isNewPerson } = await personToAdd(tx, {
        ...body,
        tenant,
        passwordHash,
        newPersonId: newId('per'),
      })
      const { role } = body
      const before = await tx.membership.findUnique({ where: { tenant_person: { tenant, person: person.id } } })
      if (before === null && body.email !== undefined) requireKnownEmail(person, tenant)
      if (before?.role === 'Admin' && role !== 'Admin') await keepAnAdmin(tx, tenant)
      const row = await tx.membership.upsert({
        where: { tenant_person: { tenant, person: person.id } },
        create: { tenant, person: person.id, role },
        update: { role },
      })
      const details = { role, before: before?.role ?? null, ...(isNewPerson && { newPerson: true }) }
      await recordChange(tx, { tenant, person: by.id, action: 'member.set', subject: person.id, details })
      return { row, isNew: before === null }
    })
    const [member] = await peopleOf<TenantRole>({ prisma }, [made.row])
    res.status(made.isNew ? 201 : 200).json(member)
  }
}

/**
 * DELETE …/members/{person}. The person's team roles and grants stay on the books and are worth nothing without the
 * membership; so adding the person again restores them.
 */
export function removeMember(deps: Deps): Handler<'removeMember'> {
  const { prisma } = deps
  return async (call, res) => {
    const by = personOf(res)
    const tenant = call.id('tenant')
    await authorizeInTenant(deps, by, tenant, 'people.manage')
    const person = call.id('person')
    const removed = await changePermissions(deps, tenant, async (tx) => {
      await authorizeInTenant({ prisma: tx }, by, tenant, 'people.manage')
      const before = await tx.membership.findUnique({ where: { tenant_person: { tenant, person } } })
      if (!before) return false
      if (before.role === 'Admin') await keepAnAdmin(tx, tenant)
      await tx.membership.delete({ where: { tenant_person: { tenant, person } } })
      await recordChange(tx, { tenant, person: by.id, action: 'member.remove', subject: person })
      return true
    })
    await passBarrier(deps, await projectsOfKeys({ prisma }, { tenant, createdBy: person }))
    if (!removed) throw refuse('not_found', {})
    res.status(204).end()
  }
}

async function keepAnAdmin(tx: Transaction, tenant: string): Promise<void> {
  if ((await tx.membership.count({ where: { tenant, role: 'Admin' } })) <= 1) throw refuse('last_admin', {})
}
