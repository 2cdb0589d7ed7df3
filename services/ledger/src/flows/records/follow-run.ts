import type { FollowAnswer, FollowQuestion } from '@gateway/contracts/flow-reads'
import type { Database } from '@gateway/database/client'
import { progressLines } from './compose-record.ts'
import { readRun } from './read-rows.ts'

/** The lines of progress of a run after one of them (spec 6). A run that is not there has none, and never will. */
export function followRun(database: Pick<Database, 'prisma'>) {
  return async ({ execution, after }: FollowQuestion): Promise<FollowAnswer> => {
    const found = await readRun(database, execution, after)
    if (found === null) throw new Error(`the books know no run ${execution}`)
    const { run, nodes } = found
    return { lines: progressLines(run, nodes, after), seq: run.seq, done: run.completed_at !== null }
  }
}
