import type { RequestHandler } from 'express'
import { keyQuery } from '@gateway/contracts/console/keys'
import { refuse } from '@gateway/contracts/refusal'
import type { ConsoleDeps } from '../needs.ts'
import { checkedQuery, pathIdOf } from '../receive/check.ts'
import { pageOf } from '../receive/page.ts'
import { visibleKeys } from '../permissions/visible-keys.ts'
import { personOf } from '../sign-in/person.ts'
import { databaseNow } from './database-now.ts'
import { keyRecords } from './key-record.ts'

type Deps = Pick<ConsoleDeps, 'prisma'>

/** GET …/keys: those I may manage, of one project or of all. */
export function listKeys({ prisma }: Deps): RequestHandler {
  return async (req, res) => {
    const visible = await visibleKeys({ prisma }, personOf(res), pathIdOf(req, 'tenant'))
    const { cursor = '', limit, project } = checkedQuery(req, keyQuery)
    const rows = await prisma.key.findMany({
      where: { AND: [visible, { id: { gt: cursor } }, project === undefined ? {} : { project }] },
      orderBy: { id: 'asc' },
      take: limit + 1,
    })
    const { data, nextCursor } = pageOf(rows, limit, ({ id }) => id)
    res.json({ data: await keyRecords(prisma, data, await databaseNow(prisma)), nextCursor })
  }
}

/** GET …/keys/{k} */
export function readKey({ prisma }: Deps): RequestHandler {
  return async (req, res) => {
    const visible = await visibleKeys({ prisma }, personOf(res), pathIdOf(req, 'tenant'))
    const key = await prisma.key.findFirst({ where: { AND: [visible, { id: pathIdOf(req, 'key') }] } })
    if (!key) throw refuse('not_found', {})
    const [record] = await keyRecords(prisma, [key], await databaseNow(prisma))
    res.json(record)
  }
}
