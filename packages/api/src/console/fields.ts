import { z } from 'zod'

// The fields of the console API, `/api/v2` (rules §7). Bodies are strict: an unknown field is `invalid_request`.
// Money is an integer of micro-USD, a price a decimal string of USD, a time ISO 8601 in UTC.

// Postgres can't store U+0000, and control characters in a name could forge a line of a log or a screen.
const isPlain = (text: string) => text.isWellFormed() && !/\p{Cc}/u.test(text)
const isPlainParagraph = (text: string) => text.isWellFormed() && !/[^\P{Cc}\n\t]/u.test(text)

export const label = (max: number) =>
  z.string().trim().min(1).max(max).refine(isPlain, 'must not hold control characters')
export const paragraph = (max: number) =>
  z.string().trim().max(max).refine(isPlainParagraph, 'must not hold control characters')
/** An id, in a body, path or query. No id of ours has control characters. */
export const id = z.string().min(1).max(128).refine(isPlain, 'must not hold control characters')
export const time = z.string().describe('ISO 8601, UTC')
/** A time in a query. */
export const moment = z.iso
  .datetime({ offset: true, abort: true }) // rules between fields compare dates only
  .transform((text) => new Date(text))
  .refine((date) => date.getUTCFullYear() >= 1970 && date.getUTCFullYear() < 9999, 'must be from 1970 to 9998')
export const micro = z.int().describe('micro-USD')
export const named = z.strictObject({ id, name: z.string() })

export const tenantRole = z.enum(['Admin', 'Member'])
export const teamRole = z.enum(['Team Owner', 'Team Member'])
export const projectRole = z.enum(['Project Owner', 'Project Consumer', 'Project Viewer'])
export type TenantRole = z.infer<typeof tenantRole>
export type TeamRole = z.infer<typeof teamRole>
export type ProjectRole = z.infer<typeof projectRole>

/** Parameters that a node of an image or voice product may set, each with the values that the product accepts. */
export const mediaParameters = {
  image: ['size', 'format', 'quality'],
  audio: ['voice', 'format'],
} as const
