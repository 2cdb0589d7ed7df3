import type { ExecutionAnswer, ExecutionQuestion } from '@gateway/contracts/flow-reads'
import { refused } from '@gateway/contracts/ledger-refusal'
import type { Deps } from '../../deps.ts'
import { readCaller } from '../../keys/read-caller.ts'
import { executionRecord } from './compose-record.ts'
import { readRows } from './read-rows.ts'

/**
 * The record of an execution as text, for its project alone: another project's is answered like none (flows §4.7).
 */
export async function readExecution(
  deps: Pick<Deps, 'reads'>,
  { caller, project, execution }: ExecutionQuestion,
): Promise<ExecutionAnswer> {
  const key = caller === null ? null : await readCaller(deps, caller)
  if (key !== null && 'refused' in key) return key
  const found = await readRows(deps, execution, 'everything')
  const owner = key?.project ?? project
  if (found === null || (owner !== null && found.execution.project !== owner))
    return refused('execution_not_found', { execution })
  const { execution: row, nodes } = found
  if (key !== null && !(await allowsSandbox(deps, key.id, row.sandbox)))
    return refused('key_scope', { resource: row.sandbox })
  return { record: executionRecord(row, nodes), done: row.completed_at !== null }
}

/** Whether a key may see executions of a sandbox product. What its flow calls does not matter: nothing is called. */
async function allowsSandbox({ reads }: Pick<Deps, 'reads'>, key: string, sandbox: string): Promise<boolean> {
  const [row] = await reads.prisma.$queryRaw<[{ unlisted: string | null }]>`
    SELECT money.unlisted_v1(k.id, k.policy, ${sandbox}, '{}') AS unlisted FROM control.keys k WHERE k.id = ${key}`
  return row.unlisted === null
}
