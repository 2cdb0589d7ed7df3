import type { ExecutionAnswer, ExecutionQuestion } from '@gateway/contracts/flow-reads'
import type { ContractSide } from '@gateway/contracts/graph'
import { refused } from '@gateway/contracts/ledger-refusal'
import { valueTypeOf } from '@gateway/flow/contract'
import type { Deps } from '../../deps.ts'
import { composeDetail } from './compose-detail.ts'
import { executionRecord } from './compose-record.ts'
import { mayReadExecution } from './may-read-execution.ts'
import { readRows, type ExecutionRow } from './read-rows.ts'

/**
 * The record of an execution as text, for its project alone: another project's is answered like none (flows §4.7).
 */
export async function readExecution(
  deps: Pick<Deps, 'reads' | 'packageCache'>,
  { caller, project, execution, detailed = false }: ExecutionQuestion,
): Promise<ExecutionAnswer> {
  const found = await readRows(deps, execution, 'everything')
  const row = found?.execution ?? null
  const refusal = caller === null ? null : await mayReadExecution(deps, caller, row, execution)
  if (refusal !== null) return refusal
  if (found === null || row === null || (project !== null && row.project !== project))
    return refused('execution_not_found', { execution })
  return {
    record: detailed
      ? composeDetail(row, found.nodes, (await deps.packageCache.get(row)).plan)
      : executionRecord(row, found.nodes),
    done: row.completed_at !== null,
    image: await imageOf(deps, row),
  }
}

/** The field that is all of its output and an image by its contract; null where the output is anything else (flows §4.5). */
async function imageOf({ packageCache }: Pick<Deps, 'packageCache'>, execution: ExecutionRow): Promise<string | null> {
  if (execution.status !== 'Succeeded') return null
  const { output } = (await packageCache.get(execution)).package
  return onlyImage(output)
}

function onlyImage({ properties }: ContractSide): string | null {
  const [[name, field] = [], ...others] = Object.entries(properties)
  return name !== undefined && others.length === 0 && valueTypeOf(field!) === 'image' ? name : null
}
