import type { Request } from 'express'
import type { z } from 'zod'
import { id as pathId } from '@gateway/contracts/console/fields'
import { refuse, type Refusal } from '@gateway/contracts/refusal'
import { readBody } from './read-body.ts'

/**
 * The value in the shape of a contract.
 * @throws Refusal `invalid_request` with the field at fault as `param`
 */
export function check<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const read = schema.safeParse(value)
  if (read.success) return read.data
  throw invalid(read.error.issues[0]!)
}

/** The body in the shape of a contract. */
export async function checkedBody<Schema extends z.ZodType>(req: Request, schema: Schema): Promise<z.output<Schema>> {
  return check(schema, await readBody(req))
}

/** The query in the shape of a contract. */
export function checkedQuery<Schema extends z.ZodType>(req: Request, schema: Schema): z.output<Schema> {
  return check(schema, req.query)
}

/**
 * An id from the path, percent-decoded.
 * @throws Refusal `not_found` for a text that can't be an id of anything
 */
export function pathIdOf(req: Request, name: string): string {
  const read = pathId.safeParse(req.params[name])
  if (read.success) return read.data
  throw refuse('not_found', {})
}

function invalid(issue: z.core.$ZodIssue): Refusal {
  const [path, what] =
    issue.code === 'unrecognized_keys'
      ? [[...issue.path, issue.keys[0]!], 'is not a known field']
      : [issue.path, issue.message.replace(/^Invalid (input|option|string): /, '')]
  const param = path.join('.')
  return refuse(
    'invalid_request',
    {
      reason: `${param || 'The request'}: ${what}.`,
      resolution: `Correct ${param || 'the request'} and send it again.`,
    },
    param ? { param } : {},
  )
}
