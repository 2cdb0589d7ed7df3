import { refuse } from '@gateway/contracts/refusal'
import type { ConsoleDeps } from '../deps.ts'
import type { Handler } from '../request/call.ts'
import { pageOf, readNumberCursor } from '../request/page.ts'
import { reachSandbox } from './reach-sandbox.ts'
import { revisionNumberOf } from './read-graph.ts'
import { revisionText } from './revision-record.ts'

/** A page ends before it becomes larger than this, with one revision at least. */
const PAGE_BYTES = 8 * 1024 * 1024

type Deps = Pick<ConsoleDeps, 'prisma'>

/** GET …/sandboxes/{s}/revisions: newest first. */
export function listRevisions(deps: Deps): Handler<'listRevisions'> {
  const { prisma } = deps
  return async (call, res) => {
    const { sandbox } = await reachSandbox(deps, call, res)
    const { cursor, limit } = call.query()
    const before = cursor === undefined ? 2_000_000_000 : Number(readNumberCursor(cursor, 9))
    const sizes = await prisma.$queryRaw<{ number: number; bytes: number }[]>`
      SELECT number, octet_length(graph) + octet_length(problems) + coalesce(octet_length(package), 0) AS bytes
        FROM control.revisions WHERE sandbox = ${sandbox.id} AND number < ${before} ORDER BY number DESC LIMIT ${limit + 1}`
    const { data, nextCursor } = pageOf(sizes, howMany(sizes, limit), ({ number }) => String(number))
    const rows = await prisma.revision.findMany({
      where: { sandbox: sandbox.id, number: { in: data.map(({ number }) => number) } },
      orderBy: { number: 'desc' },
    })
    res.type('json').end(`{"data":[${rows.map(revisionText).join(',')}],"nextCursor":${JSON.stringify(nextCursor)}}`)
  }
}

/** GET …/sandboxes/{s}/revisions/{n}: as it was saved. */
export function readRevision(deps: Deps): Handler<'readRevision'> {
  return async (call, res) => {
    const { sandbox } = await reachSandbox(deps, call, res)
    const number = revisionNumberOf(call.req.params['number'])
    const row = await deps.prisma.revision.findUnique({ where: { sandbox_number: { sandbox: sandbox.id, number } } })
    if (!row) throw refuse('not_found', {})
    res.type('json').end(revisionText(row))
  }
}

function howMany(sizes: { bytes: number }[], limit: number): number {
  let total = 0
  const fitting = sizes.slice(0, limit).findIndex(({ bytes }) => (total += bytes) > PAGE_BYTES)
  return fitting === -1 ? limit : Math.max(fitting, 1)
}
