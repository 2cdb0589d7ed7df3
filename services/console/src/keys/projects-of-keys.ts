import type { Prisma } from '@gateway/database/client'
import type { ConsoleDeps } from '../deps.ts'

/** The projects that some keys are bound to: what has to pass the barrier when the keys lose their issuer. */
export async function projectsOfKeys(
  { prisma }: Pick<ConsoleDeps, 'prisma'>,
  where: Prisma.KeyWhereInput,
): Promise<string[]> {
  const rows = await prisma.key.findMany({ where, distinct: ['project'], select: { project: true } })
  return rows.flatMap(({ project }) => (project === null ? [] : [project]))
}
