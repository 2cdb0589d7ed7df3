import { ApiRefusal, Unreachable } from '@gateway/api-client/failures'
import type { ApiClient } from '@gateway/api-client/open-api-client'
import type { ExecutionRecord, ProgressLine, RefusedLine } from '@gateway/contracts/execution'
import { usd } from '@gateway/money/usd'
import { CommandFailure, exitCodes } from '../frame/command-failure.ts'
import type { Given } from '../frame/command-row.ts'
import { printJson } from '../frame/print.ts'

type Line = ProgressLine | RefusedLine
interface Followed {
  api: ApiClient
  tenant: string
  project: string
}

const CUTS = 20
const PAUSE_MS = 1_000

/**
 * The lines of an execution, each once and in their order, over however many connections it takes.
 * @param first those of the answer that began it; null: it began before
 */
async function* everyLine(
  { io }: Pick<Given, 'io'>,
  { api, tenant, project }: Followed,
  execution: string | null,
  first: AsyncIterable<Line> | null,
): AsyncGenerator<Line, void, undefined> {
  let [id, after, cuts] = [execution, -1, 0]
  const behind = () =>
    api.stream('GET', '/api/v2/tenants/{tenant}/projects/{project}/executions/{execution}/progress', {
      params: { tenant, project, execution: id! },
      query: { after },
    })
  for (let lines = first ?? behind(); ; lines = behind()) {
    try {
      for await (const line of lines) {
        if (line.kind === 'refused')
          throw new CommandFailure(`Refused, ${line.error.code}: ${line.error.message}`, line.error.resolution)
        if (line.kind === 'admitted') id = line.executionId
        ;[after, cuts] = [line.seq, 0]
        yield line
        if (line.kind === 'complete') return
      }
    } catch (error) {
      const isCut = error instanceof Unreachable || (error instanceof ApiRefusal && error.again.worth)
      if (!isCut || id === null || ++cuts > CUTS) throw error
    }
    if (id === null)
      throw new CommandFailure('The answer broke off before the execution had begun.', 'See: gateway executions list')
    io.progress('The connection was cut; going on …')
    await io.wait(PAUSE_MS)
  }
}

/** Shows how an execution goes, and its output at the end. Ends with 1 where it did not succeed. */
export async function follow(given: Given, of: Followed, execution: string | null, first: AsyncIterable<Line> | null) {
  const { io, options } = given
  for await (const line of everyLine(given, of, execution, first)) {
    if (options.json === true) printJson(given, line)
    if (line.kind === 'admitted') io.say(`Execution ${line.executionId}, revision ${line.revision}`)
    if (line.kind === 'node') io.say(`  ${line.node.id}: ${line.node.status}`)
    if (line.kind === 'complete') return endOf(given, line.execution)
    io.progress('It goes on …')
  }
  return exitCodes.refused
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
