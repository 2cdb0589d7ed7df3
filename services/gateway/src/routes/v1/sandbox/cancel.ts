import type { RequestHandler } from 'express'
import { refusalFor } from '@gateway/ledger-protocol/ledger-refusal'
import { askWithPermit } from '../../../admission/limits.ts'
import type { Deps } from '../../../deps.ts'
import { sendRecord } from '../../../executions/send-execution.ts'
import { storableId } from '../../../request/read-headers.ts'

/**
 * POST /v1/sandbox/{id}/executions/{execution}/cancel: cancels an execution of the key's project (flows §4.11). Its
 * permits are separate, so that a project whose calls hold all of theirs can stop them.
 * @throws Refusal as its record would be refused
 */
export function cancelExecution(
  deps: Pick<Deps, 'keyGate' | 'cancellationLimiter' | 'ledger'>,
): RequestHandler<{ id: string; execution: string }> {
  const permits = { keyGate: deps.keyGate, concurrencyLimiter: deps.cancellationLimiter }
  return async (req, res) => {
    const [sandbox, execution] = [storableId(req.params.id), storableId(req.params.execution)]
    const answer = await askWithPermit(permits, req, (caller) =>
      deps.ledger.cancelExecution({ caller, project: null, execution, sandbox }),
    )
    if ('refused' in answer) throw refusalFor(answer.refused, 'invoke')
    res.setHeader('X-Service-Invocation', execution)
    sendRecord(res, answer.record)
  }
}
