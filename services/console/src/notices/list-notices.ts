import { noticeDetails, type NoticeRecord } from '@gateway/api/console/notices'
import type { ConsoleDeps } from '../deps.ts'
import { authorizeInProject } from '../permissions/authorize.ts'
import type { Handler } from '../request/call.ts'
import { pageOf, readTimeCursor, timeCursor } from '../request/page.ts'
import { userOf } from '../sign-in/user.ts'
import { openNotices } from './open-notices.ts'

/** GET …/projects/{p}/notices: newest first, each with whether it is open (money §10). */
export function listNotices(deps: Pick<ConsoleDeps, 'prisma'>): Handler<'listNotices'> {
  return async (call, res) => {
    const tenant = call.id('tenant')
    const { id: project } = await authorizeInProject(deps.prisma, userOf(res), tenant, call.id('project'), 'usage.read')
    const { cursor, limit } = call.query()
    const after = cursor === undefined ? null : readTimeCursor(cursor)
    const rows = await deps.prisma.notice.findMany({
      where: {
        project,
        kind: { not: 'webhook.test' },
        ...(after && { OR: [{ at: { lt: after.at } }, { at: after.at, id: { lt: after.id } }] }),
      },
      orderBy: [{ at: 'desc' }, { id: 'desc' }],
      take: limit + 1,
    })
    const deliveries = Map.groupBy(await deliveriesOf(deps, project, rows), ({ notice }) => notice)
    const open = await openNotices(deps, project, rows)
    const records = rows.map((row): NoticeRecord => ({
      id: row.id,
      kind: row.kind as NoticeRecord['kind'],
      threshold: microOf(row.threshold),
      at: row.at.toISOString(),
      open: open.has(row.id),
      remainingMicro: microOf(row.remainingMicro),
      key: row.key,
      windowStart: row.windowStart?.toISOString() ?? null,
      limitMicro: microOf(row.limitMicro),
      spentMicro: microOf(row.spentMicro),
      details: noticeDetails.parse(row.details),
      deliveries: (deliveries.get(row.id) ?? []).map((one) => ({ webhook: one.webhook, ...deliveryFacts(one) })),
    }))
    res.json(pageOf(records, limit, ({ at, id }) => timeCursor({ createdAt: at, id })))
  }
}

function microOf(amount: bigint | null): number | null {
  return amount === null ? null : Number(amount)
}

type Delivery = Awaited<ReturnType<ConsoleDeps['prisma']['webhookDelivery']['findMany']>>[number]

/** Returns the deliveries to webhooks that still exist. */
async function deliveriesOf(
  { prisma }: Pick<ConsoleDeps, 'prisma'>,
  project: string,
  notices: { id: string }[],
): Promise<Delivery[]> {
  const webhooks = await prisma.webhook.findMany({ where: { project }, select: { id: true } })
  if (webhooks.length === 0) return []
  return prisma.webhookDelivery.findMany({
    where: { notice: { in: notices.map(({ id }) => id) }, webhook: { in: webhooks.map(({ id }) => id) } },
    orderBy: { webhook: 'asc' },
  })
}

/** Returns a delivery as the API shows it, without what it is a delivery of. */
export function deliveryFacts({
  state,
  tries,
  status,
  error,
  nextTryAt,
  endedAt,
}: Omit<Delivery, 'webhook' | 'notice'>) {
  return {
    state: state as NoticeRecord['deliveries'][number]['state'],
    tries,
    status,
    error,
    nextTryAt: state === 'Pending' ? nextTryAt.toISOString() : null,
    endedAt: endedAt?.toISOString() ?? null,
  }
}
