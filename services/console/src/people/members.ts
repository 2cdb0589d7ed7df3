import type { TenantRole } from '@gateway/api/console/fields'
import { refuse } from '@gateway/api/refusal'
import { recordChange, type Transaction } from '../audit/record-change.ts'
import { projectsOfKeys } from '../keys/list-keys.ts'
import type { ConsoleDeps } from '../deps.ts'
import type { Handler } from '../request/call.ts'
import { pageOf, readIdCursor } from '../request/page.ts'
import { personOf } from '../sign-in/person.ts'
import { authorizeInTenant, changePermissions, passBarrier } from '../permissions/authorize.ts'
import type { newMemberBody } from '@gateway/api/console/people'
import type { z } from 'zod'
import { invalidField } from '../request/check.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'newId' | 'ledger' | 'passwords'>

/** GET …/members */
export function listMembers(deps: Deps): Handler<'listMembers'> {
  const { prisma } = deps
  return async (call, res) => {
    const tenant = call.id('tenant')
    await authorizeInTenant(deps.prisma, personOf(res), tenant, 'people.read')
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
    await authorizeInTenant(deps.prisma, by, tenant, 'people.manage')
    const body = await call.body()
    const passwordHash = body.password === undefined ? null : await passwords.hash(body.password)
    const made = await changePermissions(deps, tenant, async (tx) => {
      await authorizeInTenant(tx, by, tenant, 'people.manage')
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
    await authorizeInTenant(deps.prisma, by, tenant, 'people.manage')
    const person = call.id('person')
    const removed = await changePermissions(deps, tenant, async (tx) => {
      await authorizeInTenant(tx, by, tenant, 'people.manage')
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

interface NewMember extends Pick<z.output<typeof newMemberBody>, 'email' | 'person' | 'name' | 'password'> {
  tenant: string
  passwordHash: string | null
  /** For a person whom the service does not know yet. */
  newPersonId: string
}

interface Known {
  id: string
  vouchedBy: string | null
}

/**
 * The person that is named by id or e-mail; made, where the e-mail is new.
 * @throws Refusal `already_exists`, `invalid_request`
 */
async function personToAdd(tx: Transaction, wanted: NewMember): Promise<{ person: Known; isNewPerson: boolean }> {
  const { email, name, password, passwordHash } = wanted
  const select = { id: true, vouchedBy: true }
  if (email === undefined) {
    const person = await tx.person.findUnique({ where: { id: wanted.person ?? '' }, select })
    if (person) return { person, isNewPerson: false }
    throw invalidField('person', 'is nobody of this service.', 'Send the id that the person finds at GET /api/v2/me.')
  }
  const vouchedBy = passwordHash === null ? null : wanted.tenant
  const created = { id: wanted.newPersonId, email, name: name ?? email.split('@')[0]!, passwordHash, vouchedBy }
  const { count } = await tx.person.createMany({ data: [created], skipDuplicates: true })
  // Whoever administers one organization does not decide about a person's name or password in all others.
  if (count === 0 && (name !== undefined || password !== undefined))
    throw refuse('already_exists', { what: 'A person with this e-mail (leave out name and password to add them)' })
  return { person: await tx.person.findUniqueOrThrow({ where: { email }, select }), isNewPerson: count > 0 }
}

/**
 * An Admin of another organization who made this person knows the first password, and may be the only one to have used it:
 * what is given to the e-mail would be given to that Admin.
 * @throws Refusal `invalid_request`
 */
function requireKnownEmail({ vouchedBy }: Known, tenant: string): void {
  if (vouchedBy === null || vouchedBy === tenant) return
  throw invalidField(
    'email',
    'another organization added this person, and nobody has shown yet that the e-mail is theirs.',
    'Send `person`, the id that they find at GET /api/v2/me, or let them sign in once through the sign-in provider.',
  )
}

/**
 * Roles in teams and projects are for members of the organization.
 * @throws Refusal `invalid_request`, alike for a person who isn't one and for one who doesn't exist
 */
export async function requireMember(tx: Transaction, tenant: string, person: string): Promise<void> {
  if (await tx.membership.findUnique({ where: { tenant_person: { tenant, person } } })) return
  throw invalidField(
    'person',
    'is no member of the organization.',
    'Add the person to the organization first, and send the id that was answered.',
  )
}

interface RoleRow<Role> {
  person: string
  role: string
  createdAt: Date
  /** Only for its type. */
  as?: Role
}

interface PersonWithRole<Role> {
  id: string
  email: string
  name: string
  role: Role
  createdAt: string
}

/** Rows that give a person a role, shown with who that is. */
export async function peopleOf<Role extends string>(
  { prisma }: Pick<ConsoleDeps, 'prisma'>,
  rows: RoleRow<Role>[],
): Promise<PersonWithRole<Role>[]> {
  const people = await prisma.person.findMany({
    where: { id: { in: rows.map(({ person }) => person) } },
    select: { id: true, email: true, name: true },
  })
  const byId = new Map(people.map((person) => [person.id, person]))
  return rows.map(({ person, role, createdAt }) => {
    return { ...byId.get(person)!, role: role as Role, createdAt: createdAt.toISOString() }
  })
}
