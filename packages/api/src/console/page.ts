import { z } from 'zod'
import { MAX_IDS } from '../limits.ts'
import { id, moment } from './fields.ts'

// Lists: parameters and responses, the same everywhere.
//   F1  `cursor` is a position in the order of one list. It is independent of filters: with other filters the list
//       continues from the same position.
//   F2  A page may have fewer than `limit` items, or none, and still have a `nextCursor`: a list with filters reads a
//       bounded number of records per page. The list ends only where `nextCursor` is null.
//   F3  Filters are fields of the record, under its names; each narrows the list. `from` is inclusive and `to`
//       exclusive.

/** The query of every list. */
export const pageQuery = z
  .strictObject({
    cursor: id.optional(),
    limit: z.coerce.number().int().min(1).max(500).default(100),
  })
  .meta({ examples: [{ limit: 20 }] })

/** Filter by IDs, to name what another list refers to. */
export const ids = z
  .string()
  .regex(new RegExp(`^[\\w-]+(,[\\w-]+){0,${MAX_IDS - 1}}$`), `must be up to ${MAX_IDS} IDs, separated by commas`)
  .transform((text) => text.split(','))
  .optional()
  .describe(`only these, up to ${MAX_IDS}, separated by commas`)

/** The query of a list ordered by time, newest first: `from`, `to`, and these filters. F3 */
export const timedQuery = <Filters extends z.core.$ZodLooseShape>(filters: Filters) =>
  pageQuery
    .extend({
      ...filters,
      from: moment.optional().describe('Start, ISO 8601, inclusive'),
      to: moment.optional().describe('End, ISO 8601, exclusive'),
    })
    .refine(isPeriod, { path: ['from'], error: 'must be before to' })

function isPeriod({ from, to }: { from?: unknown; to?: unknown }): boolean {
  return !(from instanceof Date && to instanceof Date) || from < to
}

/** The response of every list. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.strictObject({
    data: z.array(item),
    nextCursor: z
      .string()
      .nullable()
      .describe('`cursor` of the next page, even if this page is short or empty; null on the last page'),
  })
export type Page<Item> = z.infer<ReturnType<typeof pageOf<z.ZodType<Item>>>>
