import type { Page } from '@gateway/contracts/console/page'

/**
 * A page of a list that is read in the order of a text that no two rows share.
 * @param rows one more than `limit`, where there are more
 */
export function pageOf<Row>(rows: Row[], limit: number, orderOf: (row: Row) => string): Page<Row> {
  const data = rows.slice(0, limit)
  const last = data.at(-1)
  return { data, nextCursor: rows.length > limit && last !== undefined ? orderOf(last) : null }
}

/** The same page with its rows shown as the API shows them. */
export function mapPage<Row, Item>({ data, nextCursor }: Page<Row>, show: (row: Row) => Item): Page<Item> {
  return { data: data.map(show), nextCursor }
}
