import type { ExecutionRecord } from '@gateway/contracts/execution'
import { refuse, Refusal, type RefusalBody } from '@gateway/contracts/refusal'

/**
 * What a chat caller is told of an execution that failed (docs/decisions/0006-a-sandbox-called-as-a-model.md): its
 * error as an error answer, with the execution and its charge. One that no worker took up is `no_worker`, which a chat
 * client may repeat like any service that is away. `x-should-retry` keeps clients from repeating by
 * themselves where a repeat answers the same or is charged again.
 */
export function refusalOfExecution(record: ExecutionRecord, keyed: boolean): Refusal {
  const { id, chargedMicro } = record
  const { code, message, resolution, param, details } = errorOf(record)
  const charged = chargedMicro > 0
  return new Refusal(code, charged ? `${withoutPromise(message)} ${chargeOf(id, chargedMicro)}` : message, resolution, {
    ...(param !== null && { param }),
    details: { ...details, execution: id, chargedMicro },
    ...((keyed || charged) && { retryAfterMs: null, headers: { 'x-should-retry': 'false' } }),
  })
}

function errorOf({ id, error, startedAt }: ExecutionRecord): RefusalBody {
  if (error === null) throw new Error(`the execution ${id} failed without an error`)
  return error.code === 'execution_timeout' && startedAt === null ? refuse('no_worker', {}).body : error
}

/** The call that failed is not charged, but others of the execution were. */
function withoutPromise(message: string): string {
  return message.replaceAll(/ Nothing (?:is|was) charged[^.]*\./g, '')
}

function chargeOf(id: string, chargedMicro: number): string {
  return `The calls of the execution ${id} that had succeeded are charged with ${chargedMicro} micro-USD.`
}
