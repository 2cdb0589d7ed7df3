import type { FollowAnswer, FollowQuestion } from '@gateway/contracts/flow-reads'
import { refused } from '@gateway/contracts/ledger-refusal'
import type { Deps } from '../../deps.ts'
import { progressLines } from './compose-record.ts'
import { mayReadExecution } from './may-read-execution.ts'
import { readRows } from './read-rows.ts'

/**
 * The lines of progress of an execution after line `after` (flows §4.4).
 *
 * Whoever asks with a key is authorised anew, behind the reading: what they get was there before their key was revoked.
 */
export async function followExecution(
  deps: Pick<Deps, 'reads' | 'followers'>,
  { execution, after, caller, project }: FollowQuestion,
): Promise<FollowAnswer> {
  return deps.followers.run(async () => {
    const found = await readRows(deps, execution, after)
    const row = found?.execution ?? null
    const refusal = caller === undefined ? null : await mayReadExecution(deps, caller, row, execution)
    if (refusal !== null) return refusal
    if (found === null || row === null || (project !== undefined && row.project !== project))
      return refused('execution_not_found', { execution })
    return { lines: progressLines(row, found.nodes, after), seq: row.seq, done: row.completed_at !== null }
  })
}
