import { z } from 'zod'
import { id } from './fields.ts'

/** The query of every list. */
export const pageQuery = z.strictObject({
  cursor: id.optional(),
  limit: z.coerce.number().int().min(1).max(500).default(100),
})

/** What every list answers. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.strictObject({
    data: z.array(item),
    nextCursor: z.string().nullable().describe('sent back as `cursor` for what comes after; null at the end'),
  })
export type Page<Item> = z.infer<ReturnType<typeof pageOf<z.ZodType<Item>>>>
