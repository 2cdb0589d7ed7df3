import type { StoppedBy } from '@gateway/api/execution'
import type { CancelAnswer, CancelQuestion } from '@gateway/ledger-protocol/flow-reads'
import { refused } from '@gateway/ledger-protocol/ledger-refusal'
import type { RefusalBody } from '@gateway/api/refusal'
import type { Deps } from '../deps.ts'
import { refusalToRead, readExecution } from './records/read-execution.ts'
import { readRowsAs } from './records/read-rows.ts'

/** A progress number beyond any line, so that no nodes are read. */
const NO_NODES = 1_000_000
const BUDGET_MS = 4_000

/**
 * Cancels an execution (flows §4.11). It ends like a failing execution (R11 of decide-execution.ts), so the returned
 * record may still have running nodes. Any key or user that may read the record may cancel it.
 * @throws if it could not be decided in time; the question may be retried
 */
export async function cancelExecution(
  deps: Pick<Deps, 'reads' | 'packageCache' | 'nodeBatcher'>,
  { caller, project, execution, sandbox }: CancelQuestion,
): Promise<CancelAnswer> {
  const { found, reader } = await readRowsAs(deps, caller, execution, NO_NODES)
  const row = found?.execution ?? null
  const named = sandbox === null || row?.sandbox === sandbox ? row : null
  const refusal = refusalToRead(reader, named, execution)
  if (refusal !== null) return refusal
  if (named === null || (project !== null && named.project !== project))
    return refused('execution_not_found', { execution })
  const began = named.completed_at === null && (await stop(deps, execution, caller === null ? 'user' : 'key'))
  const question = { caller: null, project: named.project, execution, detailed: caller === null }
  const answer = await readExecution(deps, question)
  if ('refused' in answer) return answer
  const { error } = JSON.parse(answer.record) as { error: RefusalBody | null }
  return { record: answer.record, sandbox: named.sandbox, began, stoppedBy: stopperIn(error) }
}

async function stop({ nodeBatcher }: Pick<Deps, 'nodeBatcher'>, execution: string, by: StoppedBy): Promise<boolean> {
  const outcome = await nodeBatcher.submit({ op: 'cancel', execution, by }, BUDGET_MS)
  if (outcome.kind === 'undecided') throw new Error(`outcome unknown: ${execution} may or may not be stopped`)
  return outcome.kind === 'cancelled'
}

function stopperIn(error: RefusalBody | null): StoppedBy | null {
  if (error?.code !== 'execution_cancelled') return null
  return error.details?.['by'] === 'key' ? 'key' : 'user'
}
