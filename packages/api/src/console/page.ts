import { z } from 'zod'
import { id, moment } from './fields.ts'

// Lists: what they take and what they answer, the same everywhere.
//   F1  `cursor` is a place in the order of one list. It says nothing of filters: with others it continues from the same place.
//   F2  A page may hold less than `limit`, or nothing, and still have a `nextCursor`: a list with filters looks at a bounded number of
//       records a page. The end is where `nextCursor` is null, and nowhere else.
//   F3  Filters are fields of the record, under its names; each narrows, and `from` belongs to the time while `to` does not.

/** The query of every list. */
export const pageQuery = z
  .strictObject({
    cursor: id.optional(),
    limit: z.coerce.number().int().min(1).max(500).default(100),
  })
  .meta({ examples: [{ limit: 20 }] })

/** The query of a list that is read by time, newest first: `from`, `to`, and these filters. F3 */
export const timedQuery = <Filters extends z.core.$ZodLooseShape>(filters: Filters) =>
  pageQuery
    .extend({
      ...filters,
      from: moment.optional().describe('ISO 8601; not before it'),
      to: moment.optional().describe('ISO 8601; before it'),
    })
    .refine(isPeriod, { path: ['from'], error: 'must be before to' })

function isPeriod({ from, to }: { from?: unknown; to?: unknown }): boolean {
  return !(from instanceof Date && to instanceof Date) || from < to
}

/** What every list answers. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.strictObject({
    data: z.array(item),
    nextCursor: z
      .string()
      .nullable()
      .describe('sent back as `cursor` for what comes after, also where the page is short or empty; null at the end'),
  })
export type Page<Item> = z.infer<ReturnType<typeof pageOf<z.ZodType<Item>>>>
