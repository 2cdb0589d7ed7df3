import type { z } from 'zod'
import { type Refusal, refuse } from './refusal.ts'

/** A fault of one field of a request, in words for a user. */
export interface FieldProblem {
  /** A path such as `messages.0.content`; empty for the request itself. */
  field: string
  /** What was sent, worded to follow the field's name; null if the rule is enough. */
  wrong: string | null
  /** The rule, worded to follow the field's name: `must be at most 2`. Null if the field is not known. */
  rule: string | null
}

/** Options for zod's `safeParse`: its issues then include the input, and mark which messages a schema wrote itself. */
export const READABLE = { reportInput: true, error: () => UNSAID } as const
const UNSAID = '\u0000'

const LONGEST_FIELD = 200
const LONGEST_VALUE = 40

type Issue = z.core.$ZodIssue
type Path = PropertyKey[]

/** Words a zod issue for a user. Of a union, uses the branch that fits best. */
export function fieldProblem(issue: Issue): FieldProblem {
  const { path, issue: best } = bestOf(issue, [])
  if (best.code === 'unrecognized_keys') return { field: fieldOf([...path, best.keys[0]!]), wrong: null, rule: null }
  const field = fieldOf(path)
  if (best.message !== UNSAID) return { field, wrong: null, rule: best.message }
  return { field, ...said(best) }
}

function fieldOf(path: Path): string {
  return path.map(String).join('.').slice(0, LONGEST_FIELD)
}

/** The branch that got furthest, or that at least has the right type. */
function bestOf(issue: Issue, above: Path): { path: Path; issue: Issue } {
  const path = [...above, ...issue.path]
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return { path, issue }
  const branches = issue.errors.map((branch) => bestOf(branch[0]!, path))
  const further = branches.toSorted((a, b) => b.path.length - a.path.length)[0]!
  if (further.path.length > path.length) return further
  return branches.find((branch) => nounOf(branch.issue) === null) ?? { path, issue }
}

function said(issue: Issue): Omit<FieldProblem, 'field'> {
  const noun = nounOf(issue)
  if (noun !== null) return { wrong: sentOf(issue), rule: `must be ${noun}` }
  if (issue.code === 'too_big' || issue.code === 'too_small') return outOfBounds(issue)
  if (issue.code === 'invalid_format') return { wrong: null, rule: `must be ${FORMATS[issue.format] ?? 'valid'}` }
  return { wrong: null, rule: 'must be valid' }
}

/** The expected kind of a value of the wrong kind; null if something else is wrong with it. */
function nounOf(issue: Issue): string | null {
  if (issue.code === 'invalid_type') return NOUNS[issue.expected] ?? `of the type ${issue.expected}`
  if (issue.code === 'invalid_value') return oneOf(issue.values)
  if (issue.code !== 'invalid_union') return null
  if ('options' in issue && Array.isArray(issue.options)) return oneOf(issue.options)
  return issue.errors.map((branch) => nounOf(branch[0]!) ?? 'valid').join(' or ')
}

const NOUNS: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
}

const FORMATS: Record<string, string> = {
  email: 'an email address',
  url: 'a URL',
  datetime: 'an ISO 8601 time, such as 2026-11-20T10:00:00Z',
  date: 'a date, such as 2026-11-20',
  guid: 'a UUID',
}

function oneOf(values: readonly unknown[]): string {
  const listed = values.map((value) => JSON.stringify(value)).join(', ')
  return values.length === 1 ? listed : `one of ${listed}`
}

function sentOf(issue: Issue): string {
  const sent =
    issue.code === 'invalid_union' && issue.discriminator !== undefined
      ? (issue.input as Record<string, unknown>)[issue.discriminator]
      : issue.input
  if (sent === undefined) return 'is missing'
  if (Array.isArray(sent)) return 'is an array'
  if (typeof sent === 'object' && sent !== null) return 'is an object'
  const text = JSON.stringify(sent)
  return text.length <= LONGEST_VALUE ? `is ${text}` : 'is a longer string'
}

function outOfBounds(issue: z.core.$ZodIssueTooBig | z.core.$ZodIssueTooSmall): Omit<FieldProblem, 'field'> {
  const { input, origin } = issue
  const bound =
    issue.code === 'too_big'
      ? `${issue.inclusive ? 'at most' : 'less than'} ${issue.maximum}`
      : `${issue.inclusive ? 'at least' : 'more than'} ${issue.minimum}`
  const unit = origin === 'array' ? 'entries' : 'characters'
  if (typeof input !== 'string' && !Array.isArray(input)) return { wrong: sentOf(issue), rule: `must be ${bound}` }
  if (input.length === 0) return { wrong: null, rule: 'must not be empty' }
  return { wrong: `has ${input.length} ${unit}`, rule: `must have ${bound} ${unit}` }
}

/** `invalid_request` for a zod issue, with the field as `param`. */
export function invalidIssue(issue: z.core.$ZodIssue): Refusal {
  const { field, wrong, rule } = fieldProblem(issue)
  if (rule === null) return unknownField(field)
  return invalidField(field, wrong === null ? rule : `${wrong}, and ${rule}`, `it ${rule}`)
}

/** `invalid_request` for a field that a request can't have. */
export function unknownField(field: string): Refusal {
  return invalidField(field.slice(0, LONGEST_FIELD), 'is not a known field', 'leave it out')
}

/** @param what and the resolution, both worded to follow the field's name */
export function invalidField(field: string, what: string, resolution: string): Refusal {
  return refuse(
    'invalid_request',
    { reason: `${field} ${what}.`, resolution: `Correct ${field}: ${resolution}.` },
    { param: field },
  )
}
