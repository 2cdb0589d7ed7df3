import { stream } from '../../api/ask.ts'
import type { Line } from './follow-execution.ts'

type FlowPlace = Record<'tenant' | 'project' | 'sandbox', string>

/** Begins a new execution of a saved revision. @param body `maxMicro` in micro-USD; null: no ceiling */
export function executing(
  params: FlowPlace,
  body: { input: Record<string, unknown>; revision: number; maxMicro: number | null },
): AsyncIterable<Line> {
  return stream('POST', '/api/v2/tenants/{tenant}/sandboxes/{sandbox}/execute', { params, body })
}

/** Begins one that takes over the results of an earlier one, but for a node and what is below it. */
export function runningFrom(
  { tenant, project }: FlowPlace,
  execution: string,
  body: { from: string; revision: number; maxMicro: number | null },
  idempotencyKey: string,
): AsyncIterable<Line> {
  const path = '/api/v2/tenants/{tenant}/projects/{project}/executions/{execution}/rerun'
  return stream('POST', path, { params: { tenant, project, execution }, body, idempotencyKey })
}
