import type { ExecutionRecord } from '@gateway/contracts/execution'
import { Refusal } from '@gateway/contracts/refusal'

/**
 * What a chat caller is told of an execution that failed (docs/decisions/0006-a-sandbox-called-as-a-model.md): its
 * error as an error answer, with the execution and its charge. `x-should-retry` keeps clients from repeating by
 * themselves where a repeat answers the same or is charged again.
 */
export function refusalOfExecution({ id, error, chargedMicro }: ExecutionRecord, keyed: boolean): Refusal {
  if (error === null) throw new Error(`the execution ${id} failed without an error`)
  const { code, message, resolution, param, details } = error
  const charged = chargedMicro > 0
  return new Refusal(code, charged ? `${withoutPromise(message)} ${chargeOf(id, chargedMicro)}` : message, resolution, {
    ...(param !== null && { param }),
    details: { ...details, execution: id, chargedMicro },
    ...((keyed || charged) && { retryAfterMs: null, headers: { 'x-should-retry': 'false' } }),
  })
}

/** The call that failed is not charged, but others of the execution were. */
function withoutPromise(message: string): string {
  return message.replaceAll(/ Nothing (?:is|was) charged[^.]*\./g, '')
}

function chargeOf(id: string, chargedMicro: number): string {
  return `The calls of the execution ${id} that had succeeded are charged with ${chargedMicro} micro-USD.`
}
