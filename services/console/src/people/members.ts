import type { RequestHandler } from 'express'
import { newMemberBody, pageQuery, type TenantRole } from '@gateway/contracts/console'
import { refuse } from '@gateway/contracts/refusal'
import { recordChange, type Transaction } from '../audit/record-change.ts'
import { projectsOfKeys } from '../keys/projects-of-keys.ts'
import type { ConsoleNeeds } from '../needs.ts'
import { checkedBody, checkedQuery, pathIdOf } from '../receive/check.ts'
import { pageOf } from '../receive/page.ts'
import type { Gate } from '../rights/gate.ts'
import type { PassBarrier } from '../rights/pass-barrier.ts'
import { hashPassword } from '../sign-in/password.ts'
import { personOf } from '../sign-in/person.ts'
import { peopleOf } from './people-of.ts'

type Needs = Pick<ConsoleNeeds, 'prisma' | 'mint' | 'random'> & { gate: Gate; passBarrier: PassBarrier }

/** GET …/members */
export function listMembers({ prisma, gate }: Needs): RequestHandler {
  return async (req, res) => {
    const tenant = pathIdOf(req, 'tenant')
    await gate.inTenant(personOf(res), tenant, 'people.read')
    const { cursor = '', limit } = checkedQuery(req, pageQuery)
    const rows = await prisma.membership.findMany({
      where: { tenant, person: { gt: cursor } },
      orderBy: { person: 'asc' },
      take: limit + 1,
    })
    const { data, nextCursor } = pageOf(rows, limit, ({ person }) => person)
    res.json({ data: await peopleOf<TenantRole>({ prisma }, data), nextCursor })
  }
}

/** POST …/members: adds a person, new to the service or known, or gives a member another role. */
export function setMember({ prisma, mint, random, gate }: Needs): RequestHandler {
  return async (req, res) => {
    const by = personOf(res)
    const tenant = pathIdOf(req, 'tenant')
    await gate.inTenant(by, tenant, 'people.manage')
    const { email, role, name, password } = await checkedBody(req, newMemberBody)
    const passwordHash = password === undefined ? null : await hashPassword(password, random(16))
    const made = await prisma.$transaction(async (tx) => {
      const fresh = { id: mint('per'), email, name: name ?? email.split('@')[0]!, passwordHash }
      const { count } = await tx.person.createMany({ data: [fresh], skipDuplicates: true })
      // Whoever administers one organization has no say over a person's name or password in all others.
      if (count === 0 && (name !== undefined || password !== undefined))
        throw refuse('already_exists', { what: 'A person with this e-mail (leave out name and password to add them)' })
      const { id: person } = await tx.person.findUniqueOrThrow({ where: { email }, select: { id: true } })
      await lockTenant(tx, tenant)
      const before = await tx.membership.findUnique({ where: { tenant_person: { tenant, person } } })
      if (before?.role === 'Admin' && role !== 'Admin') await keepAnAdmin(tx, tenant)
      const row = await tx.membership.upsert({
        where: { tenant_person: { tenant, person } },
        create: { tenant, person, role },
        update: { role },
      })
      await recordChange(tx, { tenant, person: by.id, action: 'member.set', subject: person, details: { role } })
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
export function removeMember({ prisma, gate, passBarrier }: Needs): RequestHandler {
  return async (req, res) => {
    const by = personOf(res)
    const tenant = pathIdOf(req, 'tenant')
    await gate.inTenant(by, tenant, 'people.manage')
    const person = pathIdOf(req, 'person')
    const removed = await prisma.$transaction(async (tx) => {
      await lockTenant(tx, tenant)
      const before = await tx.membership.findUnique({ where: { tenant_person: { tenant, person } } })
      if (!before) return false
      if (before.role === 'Admin') await keepAnAdmin(tx, tenant)
      await tx.membership.delete({ where: { tenant_person: { tenant, person } } })
      await recordChange(tx, { tenant, person: by.id, action: 'member.remove', subject: person })
      return true
    })
    await passBarrier(await projectsOfKeys({ prisma }, { tenant, createdBy: person }))
    if (!removed) throw refuse('not_found', {})
    res.status(204).end()
  }
}

/** Two Admins may not remove each other at the same moment. */
async function lockTenant(tx: Transaction, tenant: string): Promise<void> {
  await tx.$queryRaw`SELECT FROM control.tenants WHERE id = ${tenant} FOR UPDATE`
}

async function keepAnAdmin(tx: Transaction, tenant: string): Promise<void> {
  if ((await tx.membership.count({ where: { tenant, role: 'Admin' } })) <= 1) throw refuse('last_admin', {})
}
