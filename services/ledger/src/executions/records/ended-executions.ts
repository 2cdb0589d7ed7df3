import type { EndedAnswer, EndedQuestion } from '@gateway/contracts/flow-reads'
import type { Deps } from '../../deps.ts'

/** Between two ids, so that Postgres leaves out all other partitions (B10 of run_batch). */
const ENDED = `
  SELECT e.id FROM money.executions e
   WHERE e.id = ANY ($1::text[]) AND e.id BETWEEN $2 AND $3 AND e.completed_at IS NOT NULL`

/** Which of these executions have ended. */
export async function endedExecutions(
  { reads: { sql } }: Pick<Deps, 'reads'>,
  { executions }: EndedQuestion,
): Promise<EndedAnswer> {
  const inOrder = executions.toSorted()
  const rows = await sql.query<{ id: string }>(ENDED, [executions, inOrder[0], inOrder.at(-1)])
  return { ended: rows.map(({ id }) => id) }
}
