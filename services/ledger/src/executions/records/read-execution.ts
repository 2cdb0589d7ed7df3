import type {
  EndedAnswer,
  EndedQuestion,
  ExecutionAnswer,
  ExecutionQuestion,
  FollowAnswer,
  FollowQuestion,
  UsageAnswer,
  UsageQuestion,
} from '@gateway/ledger-protocol/flow-reads'
import type { ContractSide } from '@gateway/api/graph'
import { refused, type Refused } from '@gateway/ledger-protocol/ledger-refusal'
import { valueTypeOf } from '@gateway/flow/contract'
import type { Deps } from '../../deps.ts'
import { composeDetail, executionRecord, progressLines } from './compose-record.ts'
import { type ExecutionRow, readRowsAs } from './read-rows.ts'
import { type FairSemaphore, openFairSemaphore } from '@gateway/service-kit/async/fair-semaphore'
import type { Caller } from '../../keys/read-caller.ts'

/**
 * Returns the record of an execution as text, to its project only. One of another project is refused as if it did not
 * exist (flows §4.7).
 */
export async function readExecution(
  deps: Pick<Deps, 'reads' | 'packageCache'>,
  { caller, project, execution, detailed = false }: ExecutionQuestion,
): Promise<ExecutionAnswer> {
  const { found, reader } = await readRowsAs(deps, caller, execution, 'everything')
  const row = found?.execution ?? null
  const refusal = refusalToRead(reader, row, execution)
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

/** Returns the field that is the entire output and an image by its contract; null for any other output (flows §4.5). */
async function imageOf({ packageCache }: Pick<Deps, 'packageCache'>, execution: ExecutionRow): Promise<string | null> {
  if (execution.status !== 'Succeeded') return null
  const { output } = (await packageCache.get(execution)).package
  return onlyImage(output)
}

function onlyImage({ properties }: ContractSide): string | null {
  const [[name, field] = [], ...others] = Object.entries(properties)
  return name !== undefined && others.length === 0 && valueTypeOf(field!) === 'image' ? name : null
}

/**
 * Returns the lines of progress of an execution after line `after` (flows §4.4).
 *
 * A caller with a key is authorized again in the same snapshot: what they receive existed before their key was revoked.
 */
export async function followExecution(
  deps: Pick<Deps, 'reads' | 'followers'>,
  { execution, after, caller, project }: FollowQuestion,
): Promise<FollowAnswer> {
  return deps.followers.run(project ?? '', async () => {
    const { found, reader } = await readRowsAs(deps, caller ?? null, execution, after)
    const row = found?.execution ?? null
    const refusal = refusalToRead(reader, row, execution)
    if (refusal !== null) return refusal
    if (found === null || row === null || (project !== undefined && row.project !== project))
      return refused('execution_not_found', { execution })
    return { lines: progressLines(row, found.nodes, after), seq: row.seq, done: row.completed_at !== null }
  })
}

/**
 * Maximum number of followers' reads that wait, of one project half of what is free; a follower beyond that retries a
 * second later.
 */
const MAX_WAITING = 1_000

/**
 * Projects take turns.
 * @param readConnections connections for reads, of which followers use at most half
 */
export function openFollowers(readConnections: number): FairSemaphore {
  return openFairSemaphore({
    permits: Math.max(1, Math.floor(readConnections / 2)),
    maxWaiting: MAX_WAITING,
    whenFull: () => new Error('too many concurrent followers'),
  })
}

/**
 * Returns why a key may not read this execution; null if it may, or if no key asks. An execution of another project gets
 * the same refusal as one that does not exist (flows §4.7).
 */
export function refusalToRead(
  reader: Caller | Refused | null,
  execution: Pick<ExecutionRow, 'project' | 'sandbox'> | null,
  asked: string,
): Refused | null {
  if (reader === null) return null
  if ('refused' in reader) return reader
  if (execution?.project !== reader.project) return refused('execution_not_found', { execution: asked })
  return reader.listsSandbox ? null : refused('key_scope', { resource: execution.sandbox })
}

/** Bounded by two ids, so that Postgres skips all other partitions (B10 of run_batch). */
const ENDED = `
  SELECT e.id FROM money.executions e
   WHERE e.id = ANY ($1::text[]) AND e.id BETWEEN $2 AND $3 AND e.completed_at IS NOT NULL`

/** Returns which of these executions have ended. */
export async function endedExecutions(
  { reads: { sql } }: Pick<Deps, 'reads'>,
  { executions }: EndedQuestion,
): Promise<EndedAnswer> {
  const inOrder = executions.toSorted()
  const rows = await sql.query<{ id: string }>(ENDED, [executions, inOrder[0], inOrder.at(-1)])
  return { ended: rows.map(({ id }) => id) }
}

/**
 * Returns the total tokens of the settled calls of an execution's nodes. They no longer change once it has ended,
 * because it ends only when none of its reservations is open.
 */
export async function readUsage(
  { reads: { prisma } }: Pick<Deps, 'reads'>,
  { execution }: UsageQuestion,
): Promise<UsageAnswer> {
  const [sums] = await prisma.$queryRaw<[{ prompt: bigint; completion: bigint }]>`
    SELECT coalesce(sum(prompt_tokens), 0)::bigint AS prompt, coalesce(sum(completion_tokens), 0)::bigint AS completion
      FROM money.execution_nodes n
      CROSS JOIN LATERAL (SELECT * FROM money.attempts c WHERE c.id = n.charge LIMIT 1) v
     WHERE n.execution = ${execution}`
  return { promptTokens: Number(sums.prompt), completionTokens: Number(sums.completion) }
}
