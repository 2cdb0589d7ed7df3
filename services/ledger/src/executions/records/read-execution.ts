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
import { type ExecutionRow, readRows } from './read-rows.ts'
import { openSemaphore, type Semaphore } from '@gateway/service-kit/async/semaphore'
import type { CallerQuestion } from '@gateway/ledger-protocol/ledger-reads'
import { readCaller } from '../../keys/read-caller.ts'

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

/**
 * The lines of progress of an execution after line `after` (flows §4.4).
 *
 * Anyone who asks with a key is authorised again, behind the reading: what they get was there before their key was revoked.
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

/** Looks of followers that may wait; anyone who asked for one more asks again a second later. */
const MAX_WAITING = 1_000

/** @param readConnections of which followers take half at most */
export function openFollowers(readConnections: number): Semaphore {
  return openSemaphore({
    permits: Math.max(1, Math.floor(readConnections / 2)),
    maxWaiting: MAX_WAITING,
    whenFull: () => new Error('too many follow executions at once'),
  })
}

/**
 * Why a key may not read this execution; null: it may. null for the execution: there is none, which another project's
 * is answered like (flows §4.7).
 */
export async function mayReadExecution(
  deps: Pick<Deps, 'reads'>,
  caller: CallerQuestion,
  execution: Pick<ExecutionRow, 'id' | 'project' | 'sandbox'> | null,
  asked: string = execution?.id ?? '',
): Promise<Refused | null> {
  const key = await readCaller(deps, caller, execution?.sandbox)
  if ('refused' in key) return key
  if (execution?.project !== key.project) return refused('execution_not_found', { execution: asked })
  return key.listsSandbox ? null : refused('key_scope', { resource: execution.sandbox })
}

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

/**
 * The tokens that the settled calls of an execution's nodes used together. Once it has ended they change no more: it ends only when
 * none of its reservations is open.
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
