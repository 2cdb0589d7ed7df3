import { Unreachable } from '@gateway/api-client/failures'
import { followLines, type Following } from '@gateway/api-client/follow-lines'
import type { ApiClient } from '@gateway/api-client/open-api-client'
import type { ExecutionRecord, ProgressLine } from '@gateway/api/execution'
import { usd } from '@gateway/pricing/usd'
import { exitCodes } from '../frame/command-failure.ts'
import type { Given } from '../frame/command-row.ts'
import { printJson } from '../frame/print.ts'

interface Followed {
  api: ApiClient
  tenant: string
  project: string
}

/**
 * Shows the progress of an execution across reconnects, and its output at the end. Returns 1 if it did not succeed.
 * @param started its id, or the request that starts it
 */
export async function follow(given: Given, { api, tenant, project }: Followed, started: string | Following['begin']) {
  const { io, options } = given
  const lines = followLines<ProgressLine>({
    ...(typeof started === 'string' ? { begin: null, execution: started } : { begin: started }),
    goOn: (execution, after, fields) =>
      api.raw('GET', '/api/v2/tenants/{tenant}/projects/{project}/executions/{execution}/progress', {
        params: { tenant, project, execution },
        query: { after },
        ...fields,
      }),
    onLost: () => io.progress('Connection lost; reconnecting …'),
  })
  let execution = typeof started === 'string' ? started : null
  try {
    for await (const line of lines) {
      if (options.json === true) printJson(given, line)
      if (line.kind === 'admitted') {
        execution = line.executionId
        io.say(`Execution ${execution}, revision ${line.revision}`)
      }
      if (line.kind === 'node') io.say(`  ${line.node.id}: ${line.node.status}`)
      if (line.kind === 'complete') return endOf(given, line.execution)
      io.progress('Still running …')
    }
  } catch (error) {
    if (error instanceof Unreachable) io.say(whereItIs(execution))
    throw error
  }
  return exitCodes.refused
}

/** States that only the connection is lost, not the execution. */
function whereItIs(execution: string | null): string {
  return execution === null
    ? 'It may have started, and is charged if so. See: gateway executions list'
    : `The execution continues without this command: gateway executions tail ${execution}`
}

function endOf({ io, options }: Given, { status, output, error, chargedMicro, id }: ExecutionRecord): number {
  io.say(`${id}: ${status}, ${usd(chargedMicro)}`)
  if (output !== null && options.json !== true) io.write(`${JSON.stringify(output, null, 2)}\n`)
  if (error !== null) {
    io.say(`Refused, ${error.code}: ${error.message}`)
    io.say(`Resolution: ${error.resolution}`)
  }
  return status === 'Succeeded' ? exitCodes.done : exitCodes.refused
}
