import type { ProjectRole } from '@gateway/contracts/console/roles'
import { refuse } from '@gateway/contracts/refusal'
import type { Transaction } from '../audit/record-change.ts'
import { authorizeInProject } from '../permissions/authorize.ts'
import { holds, permissions } from '../permissions/permissions.ts'
import { rolesInProject } from '../permissions/roles.ts'
import type { Person } from '../sign-in/person.ts'

interface Asked {
  tenant: string
  project: string
  /** null: not known yet. */
  role: ProjectRole | null
}

/**
 * Lets through who may grant a role on a project: its owners, and nobody else. But a project of which no owner is left
 * would stay without for ever, so an Admin may appoint one there (rules §7.3).
 * @throws Refusal `not_found`, `not_permitted`
 */
export async function authorizeGrant(
  deps: { prisma: Transaction },
  person: Person,
  { tenant, project, role }: Asked,
): Promise<void> {
  const found = await rolesInProject(deps, person, tenant, project)
  if (!found || !holds(found.roles, 'owners.appoint') || found.roles.project === 'Project Owner') {
    await authorizeInProject(deps, person, tenant, project, 'grants.manage')
    return
  }
  const mayAppoint = role === null || role === 'Project Owner'
  if (!mayAppoint || (await hasOwner(deps, tenant, project)))
    throw refuse('not_permitted', { need: permissions['grants.manage'].need })
}

/** Whether an owner is left who is a member: a grant is worth nothing without that. */
async function hasOwner({ prisma }: { prisma: Transaction }, tenant: string, project: string): Promise<boolean> {
  const owners = await prisma.projectGrant.findMany({
    where: { project, role: 'Project Owner' },
    select: { person: true },
  })
  const people = owners.map(({ person }) => person)
  return (await prisma.membership.count({ where: { tenant, person: { in: people } } })) > 0
}
