import type { FundingRecord } from '@gateway/contracts/console/statement'
import { Prisma } from '@gateway/database/client'
import type { ConsoleDeps } from '../deps.ts'
import { authorizeInProject } from '../permissions/authorize.ts'
import type { Handler } from '../request/call.ts'
import { pageOf, unknownCursor } from '../request/page.ts'
import { personOf } from '../sign-in/person.ts'

/** GET …/projects/{p}/fundings: what came in and what was corrected, newest first. They are kept for ever. */
export function listFundings(deps: Pick<ConsoleDeps, 'prisma'>): Handler<'listFundings'> {
  return async (call, res) => {
    const tenant = call.id('tenant')
    const { id: project } = await authorizeInProject(deps, personOf(res), tenant, call.id('project'), 'wallet.read')
    const { cursor, limit } = call.query()
    const before = cursor === undefined ? null : readCursor(cursor)
    // Each half is cut to a page of its own before they meet, so that only the newest rows are read.
    const half = (kind: string, columns: Prisma.Sql, table: Prisma.Sql) => Prisma.sql`
      (SELECT * FROM (SELECT ${kind}::text AS kind, ${columns}, micro, at FROM ${table} WHERE project = ${project}) each
        WHERE ${before === null ? Prisma.sql`true` : Prisma.sql`at <= ${before.at} AND (at, kind, id) < (${before.at}, ${before.kind}, ${before.id})`}
        ORDER BY at DESC, id DESC LIMIT ${limit + 1})`
    const rows = await deps.prisma.$queryRaw<(Omit<FundingRecord, 'micro' | 'at'> & { micro: bigint; at: Date })[]>`
      ${half('funding', Prisma.sql`funding_id AS id, funded_by AS person, NULL AS reason`, Prisma.sql`money.fundings`)}
      UNION ALL
      ${half('correction', Prisma.sql`correction_id AS id, corrected_by AS person, reason`, Prisma.sql`money.corrections`)}
      ORDER BY at DESC, kind DESC, id DESC LIMIT ${limit + 1}`
    const records = rows.map(({ id, kind, micro, reason, person, at }) => ({
      id,
      kind,
      micro: Number(micro),
      reason,
      person,
      at: at.toISOString(),
    }))
    res.json(pageOf(records, limit, ({ at, kind, id }) => `${Date.parse(at)}.${kind}.${id}`))
  }
}

/** A funding and a correction may have the same id. */
function readCursor(cursor: string): { at: Date; kind: string; id: string } {
  const [, ms, kind, id] = /^(\d{1,15})\.(funding|correction)\.(.+)$/.exec(cursor) ?? []
  if (ms === undefined || kind === undefined || id === undefined) throw unknownCursor()
  return { at: new Date(Number(ms)), kind, id }
}
