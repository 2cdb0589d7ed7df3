import { recordChange } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import { authorizeInProject } from '../permissions/authorize.ts'
import type { Handler } from '../request/call.ts'
import { userOf } from '../sign-in/user.ts'
import { projectRecord } from './projects.ts'

/** PATCH …/projects/{p}: sets how long its assets are retained. */
export function changeProject(deps: Pick<ConsoleDeps, 'prisma'>): Handler<'changeProject'> {
  const { prisma } = deps
  return async (call, res) => {
    const user = userOf(res)
    const tenant = call.id('tenant')
    const { id } = await authorizeInProject(deps.prisma, user, tenant, call.id('project'), 'projects.change')
    const changes = await call.body()
    const changed = await prisma.$transaction(async (tx) => {
      await tx.$queryRaw`SELECT FROM control.projects WHERE id = ${id} FOR UPDATE`
      const before = await tx.project.findUniqueOrThrow({ where: { id } })
      const { assetRetentionDays = before.assetRetentionDays } = changes
      if (assetRetentionDays === before.assetRetentionDays) return before
      const details = { assetRetentionDays, before: { assetRetentionDays: before.assetRetentionDays } }
      await recordChange(tx, { tenant, user: user.id, action: 'project.change', subject: id, details })
      return tx.project.update({ where: { id }, data: { assetRetentionDays } })
    })
    res.json(projectRecord(changed))
  }
}
