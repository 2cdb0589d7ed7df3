import { ask } from '../../api/ask.ts'

/** What is running ends; nothing begins anymore. @throws ApiRefusal, Unreachable */
export async function stopExecution(
  { tenant, project }: Record<'tenant' | 'project', string>,
  execution: string,
): Promise<void> {
  const path = '/api/v2/tenants/{tenant}/projects/{project}/executions/{execution}/cancel'
  await ask('POST', path, { params: { tenant, project, execution } })
}
