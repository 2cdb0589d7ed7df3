import type { Prisma } from '@gateway/database/client'
import { refuse } from '@gateway/contracts/refusal'
import type { ConsoleDeps } from '../deps.ts'
import type { Person } from '../sign-in/person.ts'
import { seesTenant } from './permissions.ts'
import { rolesInTenant } from './roles.ts'

/**
 * Which keys of a tenant a person may list, revoke and rotate: an Admin all, others their own and those of the projects
 * they own (rules §7.3). What is not among them doesn't exist for that person.
 * @throws Refusal `not_found` for a tenant the person can't see
 */
export async function visibleKeys(
  { prisma }: Pick<ConsoleDeps, 'prisma'>,
  person: Person,
  tenant: string,
): Promise<Prisma.KeyWhereInput> {
  const roles = await rolesInTenant({ prisma }, person, tenant)
  if (!roles || !seesTenant(roles)) throw refuse('not_found', {})
  if (person.token) {
    const { project, permissions } = person.token
    if (!permissions.includes('keys.manage')) return nothing(tenant)
    return project === null ? { tenant } : { tenant, project }
  }
  if (roles.tenant === 'Admin') return { tenant }
  if (roles.tenant === null) return nothing(tenant)
  const owned = await prisma.projectGrant.findMany({
    where: { person: person.id, role: 'Project Owner' },
    select: { project: true },
  })
  return { tenant, OR: [{ createdBy: person.id }, { project: { in: owned.map(({ project }) => project) } }] }
}

function nothing(tenant: string): Prisma.KeyWhereInput {
  return { tenant, id: { in: [] } }
}
