import type { z } from 'zod'
import { fieldProblem, READABLE } from '@gateway/api/field-problem'
import { refuse, type Refusal } from '@gateway/api/refusal'

/**
 * Parses a value with a schema of the contract.
 * @throws Refusal `invalid_request` with the invalid field as `param`
 */
export function check<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const read = schema.safeParse(value, READABLE)
  if (read.success) return read.data
  const { field, wrong, rule } = fieldProblem(read.error.issues[0]!)
  if (rule === null) throw invalidField(field, 'is not a known field.', `Leave out ${field}.`)
  throw invalidField(field, `${wrong === null ? '' : `${wrong}, and `}${rule}.`)
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
      reason: `${field || 'The request'} ${wrong}`,
      resolution: resolution ?? `Correct ${field || 'the request'} and send it again.`,
    },
    field ? { param: field } : {},
  )
}
