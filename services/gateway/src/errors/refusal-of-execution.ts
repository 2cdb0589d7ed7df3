import type { ExecutionRecord } from '@gateway/contracts/execution'
import { errorOfExecution } from '@gateway/contracts/execution-error'
import { refuse, Refusal, type RefusalBody } from '@gateway/contracts/refusal'

/**
 * What a chat caller is told of an execution that failed or was stopped (docs/decisions/0006-a-sandbox-called-as-a-model.md): its
 * error as an error answer, with the execution and its charge. One that no worker took up is `no_worker`, which a chat
 * client may repeat like any service that is away. `x-should-retry` keeps clients from repeating by
 * themselves where a repeat answers the same or is charged again.
 */
export function refusalOfExecution(record: ExecutionRecord, keyed: boolean): Refusal {
  const { id, chargedMicro } = record
  const { code, message, resolution, param, details } = errorOf(record)
  return new Refusal(code, message, resolution, {
    ...(param !== null && { param }),
    details: { ...details, execution: id, chargedMicro },
    ...((keyed || chargedMicro > 0) && { retryAfterMs: null, headers: { 'x-should-retry': 'false' } }),
  })
}

/** Of a record, whose error says already what was charged and how it is run again. */
function errorOf({ id, error, startedAt, chargedMicro }: ExecutionRecord): RefusalBody {
  if (error === null) throw new Error(`the execution ${id} failed without an error`)
  if (error.code !== 'execution_timeout' || startedAt !== null) return error
  return errorOfExecution(refuse('no_worker', {}).body, { id, begunBy: 'chat', chargedMicro, ended: true })
}
