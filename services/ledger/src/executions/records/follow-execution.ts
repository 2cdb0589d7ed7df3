import type { FollowAnswer, FollowQuestion } from '@gateway/contracts/flow-reads'
import type { Database } from '@gateway/database/client'
import { progressLines } from './compose-record.ts'
import { readRows } from './read-rows.ts'

/** The lines of progress of a run after one of them (spec 6). A run that is not there has none, and never will. */
export function followExecution(database: Pick<Database, 'prisma'>) {
  return async ({ execution, after }: FollowQuestion): Promise<FollowAnswer> => {
    const found = await readRows(database, execution, after)
    if (found === null) throw new Error(`the books know no run ${execution}`)
    const { execution: row, nodes } = found
    return { lines: progressLines(row, nodes, after), seq: row.seq, done: row.completed_at !== null }
  }
}
