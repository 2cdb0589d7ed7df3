import { Prisma } from '@gateway/database/client'
import type { QueryOf } from '@gateway/contracts/api-route'
import type { ConsoleRoutes } from '@gateway/contracts/console-routes'
import { behind, equal, foundRows, inPeriod, type FoundRow, type Order } from '../request/found-rows.ts'
import { closedColumns, isNewest, openColumns, type CallRow } from './call-rows.ts'

type Query = QueryOf<ConsoleRoutes['listInvocations']>

export interface CallFilters extends Pick<Query, 'key' | 'model' | 'state' | 'execution'> {
  project: string
  from?: Date | undefined
  to?: Date | undefined
  /** Where the page before ended. */
  place: { at: Date; id: string } | null
  limit: number
}

export type FoundCall = CallRow & FoundRow

const order: Order = { at: Prisma.sql`a.admitted_at`, id: Prisma.sql`a.invocation` }
const [project, key, product, execution, state] = ['project', 'key', 'product', 'execution', 'state'].map((column) =>
  Prisma.raw(`a.${column}`),
) as [Prisma.Sql, Prisma.Sql, Prisma.Sql, Prisma.Sql, Prisma.Sql]

/** The calls of a project that fit, newest first: open ones, which are never many, and those of the books (found-rows.ts). */
export function findCalls(filters: CallFilters): Prisma.Sql {
  const { limit } = filters
  const halves = [
    ...(filters.state === undefined || filters.state === 'Open' ? [openCalls(filters)] : []),
    ...(filters.state === 'Open' ? [] : [closedCalls(filters)]),
  ]
  const each = halves.map((half) => Prisma.sql`(${half})`)
  return Prisma.sql`
    SELECT * FROM (${Prisma.join(each, ' UNION ALL ')}) c ORDER BY admitted_at DESC, id DESC LIMIT ${limit + 1}`
}

function openCalls(filters: CallFilters): Prisma.Sql {
  return Prisma.sql`
    SELECT ${openColumns}, true AS fits, false AS last FROM money.reservations a
     WHERE a.project = ${filters.project} ${narrowed(filters)} ${inTime(filters)}
     ORDER BY a.admitted_at DESC, a.invocation DESC LIMIT ${filters.limit + 1}`
}

function closedCalls(filters: CallFilters): Prisma.Sql {
  const ofState = equal([[state, filters.state]])
  const fits = Prisma.sql`(a.project = ${filters.project} ${narrowed(filters)} ${ofState} AND ${isNewest})`
  const along = Prisma.sql`${indexed(filters)} ${inTime(filters)}`
  const walk = { ...order, table: Prisma.sql`money.attempts`, columns: closedColumns, along, fits }
  return foundRows(walk, filters.limit)
}

/** An execution has few calls, a key no other project's (L2 of found-rows.ts). */
function indexed({ project: ofProject, key: ofKey, execution: ofExecution }: CallFilters): Prisma.Sql {
  if (ofExecution !== undefined) return Prisma.sql`${execution} = ${ofExecution}`
  return ofKey === undefined ? Prisma.sql`${project} = ${ofProject}` : Prisma.sql`${key} = ${ofKey}`
}

function narrowed(filters: CallFilters): Prisma.Sql {
  return equal([
    [key, filters.key],
    [product, filters.model],
    [execution, filters.execution],
  ])
}

function inTime(filters: CallFilters): Prisma.Sql {
  return Prisma.sql`${inPeriod(order.at, filters)} ${behind(order, filters.place)}`
}
