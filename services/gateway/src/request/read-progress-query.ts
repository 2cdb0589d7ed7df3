import { progressQuery, type ProgressQuery } from '@gateway/contracts/execution'
import { READABLE } from '@gateway/contracts/field-problem'
import { invalidIssue } from '@gateway/contracts/invalid-field'

/** The query of a route that answers progress (flows §4.4). @throws Refusal `invalid_request` with the field as `param` */
export function readProgressQuery(query: unknown): ProgressQuery {
  const parsed = progressQuery.safeParse(query, READABLE)
  if (!parsed.success) throw invalidIssue(parsed.error.issues[0]!)
  return parsed.data
}
