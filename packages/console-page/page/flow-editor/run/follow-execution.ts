import { ApiRefusal, Unreachable } from '@gateway/api-client/failures'
import type { ProgressLine, RefusedLine } from '@gateway/contracts/execution'
import { stream } from '../../api/ask.ts'

export type Line = ProgressLine | RefusedLine

/** How often a progress that was cut off is taken up again behind its last line. */
const TRIES = 5

/**
 * Hands on each line of an execution's progress, once and in order, also over lost connections.
 * @param beginning the lines of what begins it
 * @throws ApiRefusal; Unreachable where it is not known to have begun, or does not go on
 */
export async function followExecution(
  { tenant, project }: Record<'tenant' | 'project', string>,
  beginning: AsyncIterable<Line>,
  take: (line: ProgressLine) => void,
): Promise<void> {
  let execution: string | null = null
  let last: ProgressLine | null = null
  let lost: Unreachable | null = null
  const takeAll = async (lines: AsyncIterable<Line>) => {
    lost = null
    try {
      for await (const line of lines) {
        if (line.kind === 'refused') throw new ApiRefusal(new Response(null, { status: 403 }), line.error)
        if (line.kind === 'admitted') execution = line.executionId
        last = line
        take(line)
      }
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error
      lost = error
    }
  }
  await takeAll(beginning)
  for (let tries = 0; tries < TRIES && execution !== null && !isComplete(last); tries++)
    await takeAll(
      stream('GET', '/api/v2/tenants/{tenant}/projects/{project}/executions/{execution}/progress', {
        params: { tenant, project, execution },
        query: { after: (last as ProgressLine | null)?.seq ?? -1 },
      }),
    )
  if (!isComplete(last) && lost) throw lost as Unreachable
}

function isComplete(line: ProgressLine | null): boolean {
  return line?.kind === 'complete'
}
