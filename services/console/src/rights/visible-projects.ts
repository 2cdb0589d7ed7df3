import type { Prisma } from '@gateway/database/client'
import type { ConsoleNeeds } from '../needs.ts'
import type { Person } from '../sign-in/person.ts'
import type { Standing } from './standing.ts'

/** `seesProject` for a whole list: an Admin's are all, a member's those of its teams and those it was granted. */
export async function visibleProjects(
  { prisma }: Pick<ConsoleNeeds, 'prisma'>,
  person: Person,
  tenant: string,
  standing: Standing,
): Promise<Prisma.ProjectWhereInput> {
  if (standing.tenant === 'Admin' || standing.platformOperator) return { tenant }
  const [teams, grants] = await Promise.all([
    prisma.teamMember.findMany({ where: { person: person.id }, select: { team: true } }),
    prisma.projectGrant.findMany({ where: { person: person.id }, select: { project: true } }),
  ])
  return {
    tenant,
    OR: [{ team: { in: teams.map(({ team }) => team) } }, { id: { in: grants.map(({ project }) => project) } }],
  }
}
