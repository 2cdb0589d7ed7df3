import type { z } from 'zod'
import { refuse, type Refusal } from '@gateway/api/refusal'

/**
 * Parses a value with a schema of the contract.
 * @throws Refusal `invalid_request` with the invalid field as `param`
 */
export function check<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const read = schema.safeParse(value)
  if (read.success) return read.data
  const issue = read.error.issues[0]!
  if (issue.code === 'unrecognized_keys')
    throw invalidField([...issue.path, issue.keys[0]!].join('.'), 'is not a known field.')
  throw invalidField(issue.path.join('.'), `${issue.message.replace(/^Invalid (input|option|string): /, '')}.`)
}

/**
 * Returns `invalid_request` for one field.
 * @param field path such as `pricing.unit`; empty: the request itself
 * @param wrong sentence without its subject, which is the field
 */
export function invalidField(field: string, wrong: string, resolution?: string): Refusal {
  return refuse(
    'invalid_request',
    {
      reason: `${field || 'The request'}: ${wrong}`,
      resolution: resolution ?? `Correct ${field || 'the request'} and send it again.`,
    },
    field ? { param: field } : {},
  )
}
