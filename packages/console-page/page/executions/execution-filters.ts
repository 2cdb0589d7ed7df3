import type { ExecutionStatus } from '@gateway/api/execution'
import { spans, type Span } from '../calls/call-filters.ts'

export const executionStates: readonly ExecutionStatus[] = ['Admitted', 'Running', 'Succeeded', 'Failed', 'Cancelled']

/** Execution filters in the URL. */
export interface ExecutionFilters {
  flow?: string
  state?: ExecutionStatus
  since?: Span
}

/** Keeps the valid search parameters of the URL and drops the rest. */
export function executionFilters(search: Record<string, unknown>): ExecutionFilters {
  const { flow } = search
  const state = executionStates.find((each) => each === search['state'])
  const since = (Object.keys(spans) as Span[]).find((each) => each === search['since'])
  return { ...(typeof flow === 'string' && { flow }), ...(state && { state }), ...(since && { since }) }
}

/** API query for the filters. */
export function executionQuery({ flow, state, since }: ExecutionFilters, now: Date) {
  return {
    ...(flow !== undefined && { sandbox: flow }),
    ...(state && { state }),
    ...(since && { from: new Date(now.getTime() - spans[since]).toISOString() }),
  }
}
