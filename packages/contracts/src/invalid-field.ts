import type { z } from 'zod'
import { fieldProblem } from './field-problem.ts'
import { refuse, type Refusal } from './refusal.ts'

/** `invalid_request` for what zod found, with the field as `param`. */
export function invalidIssue(issue: z.core.$ZodIssue): Refusal {
  const { field, wrong, rule } = fieldProblem(issue)
  if (rule === null) return invalidField(field, 'is not a known field', 'leave it out')
  return invalidField(field, wrong === null ? rule : `${wrong}, and ${rule}`, `it ${rule}`)
}

/** @param what and what clears it, each to follow the field's name */
export function invalidField(field: string, what: string, resolution: string): Refusal {
  return refuse(
    'invalid_request',
    { reason: `${field} ${what}.`, resolution: `Correct ${field}: ${resolution}.` },
    { param: field },
  )
}
