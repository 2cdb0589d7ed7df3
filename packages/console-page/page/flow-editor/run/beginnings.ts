/** What is posted to begin an execution, and where. */
export interface Beginning {
  path: string
  body: object
  headers?: Readonly<Record<string, string>>
}

type FlowPlace = Record<'tenant' | 'project' | 'sandbox', string>

/** A new one of a saved revision. @param body `maxMicro` in micro-USD; null: no ceiling */
export function executing(
  { tenant, sandbox }: FlowPlace,
  body: { input: Record<string, unknown>; revision: number; maxMicro: number | null },
): Beginning {
  return {
    path: `/api/v2/tenants/${encodeURIComponent(tenant)}/sandboxes/${encodeURIComponent(sandbox)}/execute`,
    body,
  }
}

/** One that takes over the results of an earlier one, but for a node and what is below it. */
export function runningFrom(
  { tenant, project }: FlowPlace,
  execution: string,
  body: { from: string; revision: number; maxMicro: number | null },
  idempotencyKey: string,
): Beginning {
  return {
    path: `/api/v2/tenants/${encodeURIComponent(tenant)}/projects/${encodeURIComponent(project)}/executions/${encodeURIComponent(execution)}/rerun`,
    body,
    headers: { 'Idempotency-Key': idempotencyKey },
  }
}
