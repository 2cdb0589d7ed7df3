import type { TenantWebhookRecord } from '@gateway/api/console/users'
import { refuse } from '@gateway/api/refusal'
import type { ConsoleDeps } from '../deps.ts'
import { inTenant } from '../permissions/authorize.ts'
import type { Handler } from '../request/call.ts'
import { idsAfter, pageOf } from '../request/page.ts'
import { endWebhook } from './webhooks.ts'

// Webhooks of all projects, for Admins: what an Admin must see and end when people leave, and nothing else. The path of
// an address can be a secret of its receiver, so an Admin sees the host only. Mails reach only users with a role on the
// project, and are not listed.

type Deps = Pick<ConsoleDeps, 'prisma'>

/** GET …/webhooks */
export function listTenantWebhooks({ prisma }: Deps): Handler<'listTenantWebhooks'> {
  return async (call, res) => {
    const { tenant } = await inTenant(prisma, call, res, 'webhooks.manage')
    const { cursor, limit, project, createdBy } = call.query()
    const projects = await prisma.project.findMany({
      where: { tenant, ...(project !== undefined && { id: project }) },
      select: { id: true },
    })
    const rows = await prisma.webhook.findMany({
      where: {
        project: { in: projects.map(({ id }) => id) },
        ...(createdBy !== undefined && { createdBy }),
        url: { not: null },
        id: idsAfter(cursor, 'whk_'),
      },
      orderBy: { id: 'desc' },
      take: limit + 1,
    })
    const records = rows.map((row): TenantWebhookRecord => ({
      id: row.id,
      project: row.project,
      host: new URL(row.url!).host,
      createdBy: row.createdBy,
      createdAt: row.createdAt.toISOString(),
    }))
    res.json(pageOf(records, limit, ({ id }) => id))
  }
}

/** DELETE …/webhooks/{webhook}: pending deliveries to it are dropped. */
export function deleteTenantWebhook({ prisma }: Deps): Handler<'deleteTenantWebhook'> {
  return async (call, res) => {
    const { user, tenant } = await inTenant(prisma, call, res, 'webhooks.manage')
    const id = call.id('webhook')
    const webhook = await prisma.webhook.findUnique({ where: { id }, select: { project: true } })
    const project = webhook && (await prisma.project.findFirst({ where: { id: webhook.project, tenant } }))
    if (!project) throw refuse('not_found', {})
    await endWebhook({ prisma }, { tenant, user: user.id }, { id, project: project.id })
    res.status(204).end()
  }
}
