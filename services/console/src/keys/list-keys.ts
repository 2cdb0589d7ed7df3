import { refuse } from '@gateway/api/refusal'
import type { ConsoleDeps } from '../deps.ts'
import type { Handler } from '../request/call.ts'
import { idsAfter, pageOf } from '../request/page.ts'
import { visibleKeys } from '../permissions/visible-projects.ts'
import { userOf } from '../sign-in/user.ts'
import { databaseNow, inState, keyRecord, keyRecords } from './key-record.ts'
import type { Prisma } from '@gateway/database/client'

type Deps = Pick<ConsoleDeps, 'prisma'>

/** GET …/keys: the keys that the user may manage, of one project or of all. */
export function listKeys({ prisma }: Deps): Handler<'listKeys'> {
  return async (call, res) => {
    const user = userOf(res)
    const visible = await visibleKeys({ prisma }, user, call.id('tenant'))
    const { cursor, limit, ids, project, state, createdBy, expiresBefore } = call.query()
    const now = await databaseNow(prisma)
    const rows = await prisma.key.findMany({
      where: {
        AND: [
          visible,
          { id: { ...idsAfter(cursor, 'key_'), ...(ids && { in: ids }) } },
          project === undefined ? {} : { project },
          createdBy === undefined ? {} : { createdBy },
          expiresBefore === undefined ? {} : { expiresAt: { lt: expiresBefore } },
          state === undefined ? {} : inState(state, now),
        ],
      },
      orderBy: { id: 'desc' },
      take: limit + 1,
    })
    const keys = await keyRecords(prisma, rows, now, user.id)
    res.json(pageOf(keys, limit, ({ id }) => id))
  }
}

/** GET …/keys/{k} */
export function readKey({ prisma }: Deps): Handler<'readKey'> {
  return async (call, res) => {
    const user = userOf(res)
    const visible = await visibleKeys({ prisma }, user, call.id('tenant'))
    const key = await prisma.key.findFirst({ where: { AND: [visible, { id: call.id('key') }] } })
    if (!key) throw refuse('not_found', {})
    res.json(await keyRecord(prisma, key, await databaseNow(prisma), user.id))
  }
}

/** Returns the projects that keys are bound to. They must pass the barrier when the keys lose their issuer. */
export async function projectsOfKeys(
  { prisma }: Pick<ConsoleDeps, 'prisma'>,
  where: Prisma.KeyWhereInput,
): Promise<string[]> {
  const rows = await prisma.key.findMany({ where, distinct: ['project'], select: { project: true } })
  return rows.flatMap(({ project }) => (project === null ? [] : [project]))
}
