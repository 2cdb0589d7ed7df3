import type { Page } from '@gateway/api/console/page'
import { Prisma } from '@gateway/database/client'
import { timeCursor } from './page.ts'

// Lists with filters that are read by time, newest first. Not every filter has an index, and no page may read a large book to its end:
//   L1  A page walks along one index and looks at this many rows of it at most, regardless of its filters.
//   L2  What narrows the walk is in the index to its last condition: else the walk itself would pass over rows that no one counts.
//   L3  Where it looked at all of them, the last one is the place where the next page continues, whether it fits or not.

/** L1 */
export const ROWS_A_PAGE = 5_000

/** The order of a list: a moment, and an id for rows of one moment. */
export interface Order {
  at: Prisma.Sql
  id: Prisma.Sql
}

interface Walk extends Order {
  table: Prisma.Sql
  /** Of the table, called `a`: what its index answers. L2 */
  along: Prisma.Sql
  /** What else a row has to fit, called `a` as well. */
  fits: Prisma.Sql
  columns: Prisma.Sql
}

/** What a row of such a walk says of itself alongside its columns. */
export interface FoundRow {
  fits: boolean
  /** L3 */
  last: boolean
}

/** The rows that fit, newest first, one more than `limit` where there are more; and the one that a walk ended at. */
export function foundRows({ table, along, fits, columns, at, id }: Walk, limit: number): Prisma.Sql {
  const newestFirst = Prisma.sql`ORDER BY ${at} DESC, ${id} DESC`
  const atMost = Prisma.raw(String(ROWS_A_PAGE)) // no parameter: the plan has to know that it is few
  return Prisma.sql`
    SELECT ${columns}, a.fits, a.nth = ${atMost} AS last
      FROM (SELECT a.*, ${fits} AS fits
              FROM (SELECT a.*, row_number() OVER (${newestFirst}) AS nth
                      FROM ${table} a WHERE ${along} ${newestFirst} LIMIT ${atMost}) a) a
     WHERE a.fits OR a.nth = ${atMost}
     ${newestFirst} LIMIT ${limit + 1}`
}

/** A page of what was found, which may be short of its limit though there is more (L3). */
export function pageOfFound<Row extends FoundRow, Item>(
  rows: Row[],
  limit: number,
  itemOf: (row: Row) => Item,
  placeOf: (row: Row) => { at: Date; id: string },
): Page<Item> {
  const end = rows.findIndex(({ last }) => last)
  const found = (end === -1 ? rows : rows.slice(0, end + 1)).filter(({ fits }) => fits)
  const data = found.slice(0, limit)
  const place = found.length > limit ? data.at(-1) : rows[end]
  return { data: data.map(itemOf), nextCursor: place === undefined ? null : cursorAt(placeOf(place)) }
}

/** The condition of what lies behind a place. */
export function behind({ at, id }: Order, place: { at: Date; id: string | bigint } | null): Prisma.Sql {
  return place === null ? Prisma.empty : Prisma.sql`AND (${at}, ${id}) < (${place.at}, ${place.id})`
}

/** The condition of a time; `to` is not in it. */
export function inPeriod(at: Prisma.Sql, { from, to }: { from?: Date | undefined; to?: Date | undefined }): Prisma.Sql {
  const begins = from === undefined ? Prisma.empty : Prisma.sql`AND ${at} >= ${from}`
  return to === undefined ? begins : Prisma.sql`${begins} AND ${at} < ${to}`
}

/** `AND column = value` for each value that is there. */
export function equal(fields: readonly (readonly [column: Prisma.Sql, value: string | undefined])[]): Prisma.Sql {
  const conditions = fields.flatMap(([column, value]) =>
    value === undefined ? [] : [Prisma.sql`AND ${column} = ${value}`],
  )
  return conditions.length === 0 ? Prisma.empty : Prisma.join(conditions, ' ')
}

function cursorAt({ at, id }: { at: Date; id: string }): string {
  return timeCursor({ createdAt: at.toISOString(), id })
}
