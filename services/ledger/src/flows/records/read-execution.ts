import type { ExecutionAnswer, ExecutionQuestion } from '@gateway/contracts/flow-reads'
import { refused } from '@gateway/contracts/ledger-refusal'
import type { Database } from '@gateway/database/client'
import { readCaller } from '../../reads/caller.ts'
import { executionRecord } from './compose-record.ts'
import { readRows } from './read-rows.ts'

/** The record of a run as text, for its project alone: another project's is answered like none (decisions.md, 6). */
export function readExecution(database: Pick<Database, 'prisma'>) {
  return async ({ caller, project, execution }: ExecutionQuestion): Promise<ExecutionAnswer> => {
    const key = caller === null ? null : await readCaller(database, caller)
    if (key !== null && 'refused' in key) return key
    const found = await readRows(database, execution, 'everything')
    const of = key?.project ?? project
    if (found === null || (of !== null && found.execution.project !== of))
      return refused('execution_not_found', { execution })
    const { execution: row, nodes } = found
    if (key !== null && !(await lists(key.id, row.sandbox))) return refused('key_scope', { resource: row.sandbox })
    return { record: executionRecord(row, nodes), done: row.completed_at !== null }
  }

  /** Whether a key may see runs of a flow. What the flow calls is not asked: nothing is called. */
  async function lists(key: string, sandbox: string): Promise<boolean> {
    const [row] = await database.prisma.$queryRaw<[{ unlisted: string | null }]>`
      SELECT money.unlisted_v1(k.id, k.policy, ${sandbox}, '{}') AS unlisted FROM control.keys k WHERE k.id = ${key}`
    return row.unlisted === null
  }
}
