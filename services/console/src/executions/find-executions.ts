import type { CheckedQueryOf } from '@gateway/contracts/api-route'
import type { ConsoleRoutes } from '@gateway/contracts/console-routes'
import type { ExecutionSummary } from '@gateway/contracts/execution'
import type { BegunBy } from '@gateway/contracts/execution-error'
import { Prisma } from '@gateway/database/client'
import { behind, equal, foundRows, inPeriod, type FoundRow, type Order } from '../request/found-rows.ts'

type Queries = CheckedQueryOf<ConsoleRoutes['listExecutions']> & CheckedQueryOf<ConsoleRoutes['listProjectExecutions']>

export interface ExecutionFilters extends Pick<Queries, 'state' | 'revision' | 'sandbox' | 'from' | 'to'> {
  project: string
  /** Where the page before ended. */
  place: { at: Date; id: string } | null
  limit: number
}

export interface FoundExecution extends FoundRow {
  id: string
  sandbox: string
  revision: number
  project: string
  key: string | null
  person: string | null
  begun_by: BegunBy
  status: ExecutionSummary['status']
  error: Uint8Array | null
  max_micro: bigint | null
  charged_micro: bigint
  created_at: Date
  started_at: Date | null
  completed_at: Date | null
  rerun_of: string | null
}

const order: Order = { at: Prisma.sql`a.created_at`, id: Prisma.sql`a.id` }
const columns = Prisma.sql`
  a.id, a.sandbox, a.revision, a.project, a.key, a.person, CASE WHEN a.person IS NULL THEN a.surface ELSE 'person' END AS begun_by,
  a.status, a.error, a.max_micro, a.created_at, a.started_at, a.completed_at, a.rerun_of`

/** The executions of a project that fit, newest first, with what their calls were charged (found-rows.ts). */
export function findExecutions(filters: ExecutionFilters): Prisma.Sql {
  const { table, indexed } = walkOf(filters)
  const along = Prisma.sql`${indexed} ${inPeriod(order.at, filters)} ${behind(order, filters.place)}`
  const walk = { ...order, table, along, fits: Prisma.sql`(${fitting(filters)})`, columns }
  return Prisma.sql`
    SELECT e.*, coalesce((SELECT sum(v.charged_micro) FROM money.execution_nodes n
                           CROSS JOIN LATERAL (SELECT c.charged_micro FROM money.attempts c WHERE c.id = n.charge LIMIT 1) v
                           WHERE n.execution = e.id), 0)::bigint AS charged_micro
      FROM (${foundRows(walk, filters.limit)}) e
     ORDER BY e.created_at DESC, e.id DESC`
}

/**
 * Those in progress are few, and have an index of their own: by themselves (`OFFSET 0`), so that no plan looks for them along the
 * index over time, among all that have ended (L2 of found-rows.ts).
 */
function walkOf({ project, sandbox, state }: ExecutionFilters): { table: Prisma.Sql; indexed: Prisma.Sql } {
  const table = Prisma.sql`money.executions`
  if (state === 'Admitted' || state === 'Running')
    return {
      table: Prisma.sql`(SELECT * FROM ${table} WHERE project = ${project} AND completed_at IS NULL OFFSET 0)`,
      indexed: Prisma.sql`true`,
    }
  const indexed = sandbox === undefined ? Prisma.sql`a.project = ${project}` : Prisma.sql`a.sandbox = ${sandbox}`
  return { table, indexed }
}

function fitting({ project, sandbox, state, revision }: ExecutionFilters): Prisma.Sql {
  const named = equal([
    [Prisma.sql`a.sandbox`, sandbox],
    [Prisma.sql`a.status`, state],
  ])
  const ofRevision = revision === undefined ? Prisma.empty : Prisma.sql`AND a.revision = ${revision}`
  return Prisma.sql`a.project = ${project} ${named} ${ofRevision}`
}
