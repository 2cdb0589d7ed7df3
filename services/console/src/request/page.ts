import type { Page } from '@gateway/api/console/page'
import type { Refusal } from '@gateway/api/refusal'
import { invalidField } from './check.ts'

/**
 * Returns a page of a list sorted by a unique string, which is the cursor.
 * @param items one more than `limit` if there are more
 */
export function pageOf<Item>(items: Item[], limit: number, cursorOf: (item: Item) => string): Page<Item> {
  const data = items.slice(0, limit)
  const last = data.at(-1)
  return { data, nextCursor: items.length > limit && last !== undefined ? cursorOf(last) : null }
}

/**
 * Returns the ID of a cursor of a list sorted by ID.
 * @param prefix prefix of the ids of this list
 * @throws Refusal `invalid_request`
 */
export function readIdCursor(cursor: string, prefix: string): string {
  if (cursor.startsWith(prefix)) return cursor
  throw unknownCursor()
}

/**
 * Returns the Prisma filter for the IDs after a cursor, newest first: IDs sort by time.
 * @throws Refusal `invalid_request`
 */
export function idsAfter(cursor: string | undefined, prefix: string): { lt?: string } {
  return cursor === undefined ? {} : { lt: readIdCursor(cursor, prefix) }
}

/**
 * Returns the Prisma filter for the roles of users after a cursor of `timeCursor`, in the order of `newestRolesFirst`.
 * @throws Refusal `invalid_request`
 */
export function rolesAfter(cursor: string | undefined) {
  if (cursor === undefined) return {}
  const { at, id } = readTimeCursor(cursor, /^usr_/)
  return { OR: [{ createdAt: { lt: at } }, { createdAt: at, user: { lt: id } }] }
}

export const newestRolesFirst: [{ createdAt: 'desc' }, { user: 'desc' }] = [{ createdAt: 'desc' }, { user: 'desc' }]

/**
 * Returns the number of a cursor.
 * @throws Refusal `invalid_request`
 */
export function readNumberCursor(cursor: string, maxDigits: number): bigint {
  if (/^\d+$/.test(cursor) && cursor.length <= maxDigits) return BigInt(cursor)
  throw unknownCursor()
}

/** Returns the cursor of a list sorted by time, newest first. */
export function timeCursor({ createdAt, id }: { createdAt: string; id: string }): string {
  return `${Date.parse(createdAt)}.${id}`
}

/**
 * Parses a cursor of `timeCursor`.
 * @param ids pattern of the ids of this list, to reject cursors of other lists
 * @throws Refusal `invalid_request`
 */
export function readTimeCursor(cursor: string, ids = /./): { at: Date; id: string } {
  const [, ms, id] = /^(\d{1,15})\.(.+)$/.exec(cursor) ?? []
  if (ms && id && ids.test(id)) return { at: new Date(Number(ms)), id }
  throw unknownCursor()
}

/** Refusal of a cursor that this list never issued. */
export function unknownCursor(): Refusal {
  return invalidField('cursor', 'was not returned by this list.', 'Send the nextCursor of the previous page.')
}
