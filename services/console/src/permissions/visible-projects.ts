import type { Prisma } from '@gateway/database/client'
import type { ConsoleDeps } from '../deps.ts'
import type { Person } from '../sign-in/person.ts'
import type { Roles } from './roles.ts'

/** `seesProject` for a whole list: an Admin's are all, a member's those of its teams and those it was granted. */
export async function visibleProjects(
  { prisma }: Pick<ConsoleDeps, 'prisma'>,
  person: Person,
  tenant: string,
  roles: Roles,
): Promise<Prisma.ProjectWhereInput> {
  if (person.token?.project) return { tenant, id: person.token.project }
  if (roles.tenant === 'Admin' || roles.platformOperator) return { tenant }
  const [teams, grants] = await Promise.all([
    prisma.teamMember.findMany({ where: { person: person.id }, select: { team: true } }),
    prisma.projectGrant.findMany({ where: { person: person.id }, select: { project: true } }),
  ])
  return {
    tenant,
    OR: [{ team: { in: teams.map(({ team }) => team) } }, { id: { in: grants.map(({ project }) => project) } }],
  }
}
