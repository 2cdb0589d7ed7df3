import type { RequestHandler } from 'express'
import { refusalFor } from '@gateway/ledger-protocol/ledger-refusal'
import { withPermit } from '../../../admission/limits.ts'
import type { Deps } from '../../../deps.ts'
import { sendRecord } from '../../../executions/send-execution.ts'
import { readCaller, storableId } from '../../../request/read-headers.ts'

/**
 * POST /v1/sandbox/{id}/executions/{execution}/cancel: stops an execution of the key's project (flows §4.11).
 * @throws Refusal as its record would be refused
 */
export function cancelExecution(
  deps: Pick<Deps, 'concurrencyLimiter' | 'ledger'>,
): RequestHandler<{ id: string; execution: string }> {
  return (req, res) => {
    const caller = readCaller(req)
    const [sandbox, execution] = [storableId(req.params.id), storableId(req.params.execution)]
    return withPermit(deps.concurrencyLimiter, res, caller.keyHash, async () => {
      const answer = await deps.ledger.cancelExecution({ caller, project: null, execution, sandbox })
      if ('refused' in answer) throw refusalFor(answer.refused, 'invoke')
      res.setHeader('X-Service-Invocation', execution)
      sendRecord(res, answer.record)
    })
  }
}
