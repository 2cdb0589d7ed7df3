import type { PrismaClient } from '@gateway/database/client'
import { ids } from './ids.ts'

/** Two projects of one team, so that what keeps them apart can be tried by hand. */
export async function seedProjects(prisma: PrismaClient): Promise<void> {
  const { tenant, team, user } = ids
  for (const [id, name] of [
    [ids.project, 'First project'],
    [ids.otherProject, 'Other project'],
  ] as const) {
    await prisma.$transaction(async (tx) => {
      const { count } = await tx.project.createMany({ data: [{ id, tenant, team, name }], skipDuplicates: true })
      if (count === 0) return
      await tx.projectGrant.create({ data: { project: id, user, role: 'Project Owner' } })
      await tx.$queryRaw`SELECT FROM control.set_default_alerts(${id}, ${user}, NULL)`
    })
  }
}
