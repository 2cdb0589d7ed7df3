import { followLines, type Following } from '@gateway/api-client/follow-lines'
import type { ProgressLine } from '@gateway/api/execution'
import { raw } from '../../api/ask.ts'

type ProjectScope = Record<'tenant' | 'project', string>
/** What begins an execution, once however often it is asked. */
export type Trigger = NonNullable<Following['begin']>

/**
 * Each line of an execution's progress, once and in order, also over lost connections.
 * @param started its id, or what begins it
 * @throws ApiRefusal; Unreachable where the service does not answer for two minutes
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
