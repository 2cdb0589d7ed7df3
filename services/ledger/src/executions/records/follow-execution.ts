import type { FollowAnswer, FollowQuestion } from '@gateway/contracts/flow-reads'
import type { Deps } from '../../deps.ts'
import { progressLines } from './compose-record.ts'
import { readRows } from './read-rows.ts'

/**
 * The lines of progress of an execution after line `after` (flows §4.4). One that does not exist has none, and never will.
 */
export async function followExecution(
  deps: Pick<Deps, 'reads' | 'followers'>,
  { execution, after }: FollowQuestion,
): Promise<FollowAnswer> {
  const found = await deps.followers.run(() => readRows(deps, execution, after))
  if (found === null) throw new Error(`there is no execution ${execution}`)
  const { execution: row, nodes } = found
  return { lines: progressLines(row, nodes, after), seq: row.seq, done: row.completed_at !== null }
}
