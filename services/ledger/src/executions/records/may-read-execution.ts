import type { CallerQuestion } from '@gateway/contracts/ledger-reads'
import { refused, type Refused } from '@gateway/contracts/ledger-refusal'
import type { Deps } from '../../deps.ts'
import { readCaller } from '../../keys/read-caller.ts'
import type { ExecutionRow } from './read-rows.ts'

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
