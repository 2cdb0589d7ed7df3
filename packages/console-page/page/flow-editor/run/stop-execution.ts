import { ask } from '../../api/ask.ts'

/** Stops an execution: running calls are aborted, and no further node starts. @throws ApiRefusal, Unreachable */
export async function stopExecution(
  { tenant, project }: Record<'tenant' | 'project', string>,
  execution: string,
): Promise<void> {
  const path = '/api/v2/tenants/{tenant}/projects/{project}/executions/{execution}/cancel'
  await ask('POST', path, { params: { tenant, project, execution } })
}
