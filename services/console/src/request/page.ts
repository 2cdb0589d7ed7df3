import type { Page } from '@gateway/api/console/page'
import type { Refusal } from '@gateway/api/refusal'
import { invalidField } from './check.ts'

/**
 * A page of a list that is read in the order of a text that no two of its items share, which is the cursor.
 * @param items one more than `limit`, where there are more
 */
export function pageOf<Item>(items: Item[], limit: number, cursorOf: (item: Item) => string): Page<Item> {
  const data = items.slice(0, limit)
  const last = data.at(-1)
  return { data, nextCursor: items.length > limit && last !== undefined ? cursorOf(last) : null }
}

/**
 * The id that a cursor is, in a list in the order of its ids; less than any id where there is none.
 * @param prefix what the ids of this list begin with
 * @throws Refusal `invalid_request`
 */
export function readIdCursor(cursor: string | undefined, prefix: string): string {
  if (cursor === undefined || cursor.startsWith(prefix)) return cursor ?? ''
  throw unknownCursor()
}

/**
 * The number that a cursor is.
 * @throws Refusal `invalid_request`
 */
export function readNumberCursor(cursor: string, maxDigits: number): bigint {
  if (/^\d+$/.test(cursor) && cursor.length <= maxDigits) return BigInt(cursor)
  throw unknownCursor()
}

/** The cursor of a list that is read by time, newest first. */
export function timeCursor({ createdAt, id }: { createdAt: string; id: string }): string {
  return `${Date.parse(createdAt)}.${id}`
}

/**
 * What `timeCursor` made.
 * @param ids what the ids of this list are like: a cursor of another list is none of it
 * @throws Refusal `invalid_request`
 */
export function readTimeCursor(cursor: string, ids = /./): { at: Date; id: string } {
  const [, ms, id] = /^(\d{1,15})\.(.+)$/.exec(cursor) ?? []
  if (ms && id && ids.test(id)) return { at: new Date(Number(ms)), id }
  throw unknownCursor()
}

/** Of a cursor that the list which is asked never gave. */
export function unknownCursor(): Refusal {
  return invalidField('cursor', 'is not one that this list gave.', 'Send the nextCursor of the page before.')
}
