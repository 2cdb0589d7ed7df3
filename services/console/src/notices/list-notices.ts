import type { NoticeRecord } from '@gateway/contracts/console/notices'
import type { ConsoleDeps } from '../deps.ts'
import { authorizeInProject } from '../permissions/authorize.ts'
import type { Handler } from '../request/call.ts'
import { pageOf, readTimeCursor, timeCursor } from '../request/page.ts'
import { personOf } from '../sign-in/person.ts'

/** GET …/projects/{p}/notices: newest first (money §10). */
export function listNotices(deps: Pick<ConsoleDeps, 'prisma'>): Handler<'listNotices'> {
  return async (call, res) => {
    const tenant = call.id('tenant')
    const { id: project } = await authorizeInProject(deps, personOf(res), tenant, call.id('project'), 'usage.read')
    const { cursor, limit } = call.query()
    const after = cursor === undefined ? null : readTimeCursor(cursor)
    const rows = await deps.prisma.notice.findMany({
      where: { project, ...(after && { OR: [{ at: { lt: after.at } }, { at: after.at, id: { lt: after.id } }] }) },
      orderBy: [{ at: 'desc' }, { id: 'desc' }],
      take: limit + 1,
    })
    const records = rows.map((row): NoticeRecord => ({
      id: row.id,
      kind: row.kind as NoticeRecord['kind'],
      threshold: Number(row.threshold),
      at: row.at.toISOString(),
      remainingMicro: microOf(row.remainingMicro),
      key: row.key,
      windowStart: row.windowStart?.toISOString() ?? null,
      limitMicro: microOf(row.limitMicro),
      spentMicro: microOf(row.spentMicro),
    }))
    res.json(pageOf(records, limit, ({ at, id }) => timeCursor({ createdAt: at, id })))
  }
}

function microOf(micro: bigint | null): number | null {
  return micro === null ? null : Number(micro)
}
