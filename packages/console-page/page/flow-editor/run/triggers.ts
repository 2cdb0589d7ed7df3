import { raw } from '../../api/ask.ts'
import { newIdempotencyKey } from '../../keys/new-idempotency-key.ts'
import type { Trigger } from './follow-execution.ts'

type FlowScope = Record<'tenant' | 'project' | 'sandbox', string>

/** Starts an execution of a saved revision. @param body `maxMicro` in micro-USD, or null for no max cost */
export function executing(
  { tenant, sandbox }: FlowScope,
  body: { input: Record<string, unknown>; revision: number; maxMicro: number | null },
): Trigger {
  const idempotencyKey = newIdempotencyKey()
  const path = '/api/v2/tenants/{tenant}/sandboxes/{sandbox}/execute'
  return (fields) => raw('POST', path, { params: { tenant, sandbox }, body, idempotencyKey, ...fields })
}

/** Starts a rerun that reuses the results of an earlier execution, except for a node and its dependents. */
export function runningFrom(
  { tenant, project }: FlowScope,
  execution: string,
  body: { from: string; revision: number; maxMicro: number | null },
): Trigger {
  const idempotencyKey = newIdempotencyKey()
  const path = '/api/v2/tenants/{tenant}/projects/{project}/executions/{execution}/rerun'
  return (fields) => raw('POST', path, { params: { tenant, project, execution }, body, idempotencyKey, ...fields })
}
