import type { Page } from '@gateway/api/console/page'
import { Prisma } from '@gateway/database/client'
import { timeCursor } from './page.ts'

// Filtered lists by time, newest first. Not every filter has an index, and no page may scan a large table to its end:
//   L1  A page walks one index and reads at most ROWS_A_PAGE of its rows, regardless of the filters.
//   L2  The index covers every condition that narrows the walk. Otherwise the walk would skip rows that aren't counted.
//   L3  If it read that many rows, the next page continues after the last of them, whether that row matches or not.
//   L4  Where the index holds rows that the reader may not see, `visible` keeps them out of the page and out of its cursor.

/** L1 */
export const ROWS_A_PAGE = 5_000

/** Sort order of a list: a time, and an ID for rows with the same time. */
export interface Order {
  at: Prisma.Sql
  id: Prisma.Sql
}

interface Walk extends Order {
  table: Prisma.Sql
  /** Condition on the table, aliased `a`, that its index covers. L2 */
  along: Prisma.Sql
  /** Remaining condition on a row, also aliased `a`. */
  fits: Prisma.Sql
  /** Condition on a row, aliased `a`, that holds for all rows of the walk or for none. L4 */
  visible?: Prisma.Sql
  columns: Prisma.Sql
}

/** Fields of a row of the walk in addition to its columns. */
export interface FoundRow {
  fits: boolean
  /** L3 */
  last: boolean
}

/** Selects the matching rows, newest first, one more than `limit` if there are more, and the last row of the walk. */
export function foundRows({ table, along, fits, visible, columns, at, id }: Walk, limit: number): Prisma.Sql {
  const newestFirst = Prisma.sql`ORDER BY ${at} DESC, ${id} DESC`
  const atMost = Prisma.raw(String(ROWS_A_PAGE)) // not a parameter: the planner must see that it is small
  return Prisma.sql`
    SELECT ${columns}, a.fits, a.nth = ${atMost} AS last
      FROM (SELECT a.*, ${fits} AS fits
              FROM (SELECT a.*, row_number() OVER (${newestFirst}) AS nth
                      FROM ${table} a WHERE ${along} ${newestFirst} LIMIT ${atMost}) a) a
     WHERE (a.fits OR a.nth = ${atMost}) AND ${visible ?? Prisma.sql`true`}
     ${newestFirst} LIMIT ${limit + 1}`
}

/** Builds a page. It may have fewer items than the limit although more follow (L3). */
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

/** Condition for rows after a position. */
export function behind({ at, id }: Order, place: { at: Date; id: string | bigint } | null): Prisma.Sql {
  return place === null ? Prisma.empty : Prisma.sql`AND (${at}, ${id}) < (${place.at}, ${place.id})`
}

/** Condition for a period; `to` is exclusive. */
export function inPeriod(at: Prisma.Sql, { from, to }: { from?: Date | undefined; to?: Date | undefined }): Prisma.Sql {
  const begins = from === undefined ? Prisma.empty : Prisma.sql`AND ${at} >= ${from}`
  return to === undefined ? begins : Prisma.sql`${begins} AND ${at} < ${to}`
}

/** Returns `AND column = value` for each value that is set. */
export function equal(fields: readonly (readonly [column: Prisma.Sql, value: string | undefined])[]): Prisma.Sql {
  const conditions = fields.flatMap(([column, value]) =>
    value === undefined ? [] : [Prisma.sql`AND ${column} = ${value}`],
  )
  return conditions.length === 0 ? Prisma.empty : Prisma.join(conditions, ' ')
}

function cursorAt({ at, id }: { at: Date; id: string }): string {
  return timeCursor({ createdAt: at.toISOString(), id })
}
