import { followLines, type Following } from '@gateway/api-client/follow-lines'
import type { ProgressLine } from '@gateway/api/execution'
import { raw } from '../../api/ask.ts'

type ProjectScope = Record<'tenant' | 'project', string>
/** Starts an execution. Idempotent: repeated calls start it once. */
export type Trigger = NonNullable<Following['begin']>

/**
 * Yields each progress line of an execution once and in order. Reconnects after lost connections.
 * @param started execution ID, or the function that starts it
 * @throws ApiRefusal; Unreachable if the service does not respond for two minutes
 */
export function followExecution(
  { tenant, project }: ProjectScope,
  started: string | Trigger,
): AsyncGenerator<ProgressLine, void, undefined> {
  return followLines({
    ...(typeof started === 'string' ? { begin: null, execution: started } : { begin: started }),
    goOn: (execution, after, fields) =>
      raw('GET', '/api/v2/tenants/{tenant}/projects/{project}/executions/{execution}/progress', {
        params: { tenant, project, execution },
        query: { after },
        ...fields,
      }),
  })
}
