import type { FollowAnswer, FollowQuestion } from '@gateway/contracts/flow-reads'
import type { Deps } from '../../deps.ts'
import { progressLines } from './compose-record.ts'
import { mayReadExecution } from './may-read-execution.ts'
import { readRows } from './read-rows.ts'

/**
 * The lines of progress of an execution after line `after` (flows §4.4). One that does not exist has none, and never will.
 *
 * Whoever asks with a key is authorised anew, behind the reading: what they get was there before their key was revoked.
 */
export async function followExecution(
  deps: Pick<Deps, 'reads' | 'followers'>,
  { execution, after, caller }: FollowQuestion,
): Promise<FollowAnswer> {
  return deps.followers.run(async () => {
    const found = await readRows(deps, execution, after)
    if (found === null) throw new Error(`there is no execution ${execution}`)
    const { execution: row, nodes } = found
    const refusal = caller === undefined ? null : await mayReadExecution(deps, caller, row)
    if (refusal !== null) return refusal
    return { lines: progressLines(row, nodes, after), seq: row.seq, done: row.completed_at !== null }
  })
}
