import { Prisma } from '@gateway/database/client'
import { equal, inPeriod } from '../request/found-rows.ts'
import type { ConsoleDeps } from '../deps.ts'
import { isAfter, readRolledUp, type RolledUp } from './read-booked.ts'

// The most expensive calls of a project of a million calls. No index orders calls by their charge: each settlement would
// pay for it. The ledger's roll-up keeps the largest charge of each hour (money §9.2), which tells where to look:
//   X1  Hours with charged calls in the order of their largest charge, newest first among equals. The first `limit` whole
//       ones have a call each that comes before any call of the other hours, so only theirs are read. At most two hours
//       of a period are not whole, so two more are read.
//   X2  Calls that are not rolled up yet are candidates, too.
//   X3  An hour may have lost its largest call to the archive, so calls from archived months, if any are left, are
//       candidates, too, and their hours count for nothing. A call has an ID from before its admission, so an hour more.

interface Asked {
  project: string
  /** A model or a key, or neither: the roll-up does not know both together. */
  model?: string | undefined
  key?: string | undefined
  from: Date
  to: Date
  limit: number
}

/** What the selection needs to know before, so that Postgres plans for it. */
export interface Known extends RolledUp {
  /** Calls from before this may be archived. */
  keptFrom: Date
}

/** Reads what is rolled up and what is archived. */
export async function readKnown({ prisma }: Pick<ConsoleDeps, 'prisma'>, project: string): Promise<Known> {
  const [archived] = await prisma.$queryRaw<[{ until: Date }]>`
    SELECT coalesce(max(of.month) + interval '1 month 1 hour', 'epoch')::timestamptz AS until
      FROM money.archives r, unnest(r.attempts) of (month)`
  return { ...(await readRolledUp({ prisma }, project)), keptFrom: archived.until }
}

/** Selects the IDs of the attempts that are the most expensive ones of a period. */
export function mostExpensiveIds({ project, model, key, from, to, limit }: Asked, known: Known): Prisma.Sql {
  const inOrder = Prisma.sql`ORDER BY charged_micro DESC, admitted_at DESC, id DESC LIMIT ${limit}`
  const candidates = (source: Prisma.Sql, condition: Prisma.Sql) => Prisma.sql`
    SELECT a.id, a.charged_micro, a.admitted_at FROM ${source}
     WHERE a.project = ${project} AND a.state = 'Settled' ${equal([
       [Prisma.sql`a.product`, model],
       [Prisma.sql`a.key`, key],
     ])}
           ${inPeriod(Prisma.sql`a.admitted_at`, { from, to })} AND ${condition} ${inOrder}`
  const attempts = Prisma.sql`money.attempts a`
  const dimension = model !== undefined ? 'model' : key !== undefined ? 'key' : 'all'
  // The limit keeps a plan for any value from reading the whole period in place of a few IDs.
  const byId = Prisma.sql`behind b CROSS JOIN LATERAL (SELECT * FROM money.attempts r WHERE r.id = b.reference LIMIT 1) a`
  const archivedToo =
    known.keptFrom > from
      ? Prisma.sql`UNION (${candidates(attempts, Prisma.sql`a.admitted_at < ${known.keptFrom}`)})`
      : Prisma.empty
  return Prisma.sql`
    WITH known AS MATERIALIZED (
      SELECT coalesce((SELECT p.seq FROM money.usage_positions p WHERE p.project = ${project}), 0) AS seq),
    busiest AS MATERIALIZED (
      SELECT hour FROM money.usage_hours
       WHERE project = ${project} AND dimension = ${dimension} AND name = ${model ?? key ?? ''}
         AND hour > ${from}::timestamptz - interval '1 hour' AND hour < ${to} AND hour >= ${known.keptFrom}
         AND calls > 0
       ORDER BY max_micro DESC, hour DESC LIMIT ${limit + 2}), -- X1
    behind AS MATERIALIZED (
      SELECT j.reference FROM money.journal j
       WHERE j.project = ${project} AND j.kind = 'settle'
         AND ${isAfter(known)} AND j.seq > (SELECT seq FROM known))
    SELECT id FROM (
      SELECT c.* FROM busiest h CROSS JOIN LATERAL (
        ${candidates(attempts, Prisma.sql`a.admitted_at >= h.hour AND a.admitted_at < h.hour + interval '1 hour'`)}) c
       UNION
      (${candidates(byId, Prisma.sql`true`)}) -- X2
      ${archivedToo} -- X3
    ) candidates ${inOrder}`
}
