import type { RequestHandler } from 'express'
import { refusalFor } from '@gateway/ledger-protocol/ledger-refusal'
import { withPermit } from '../../../admission/limits.ts'
import type { Deps } from '../../../deps.ts'
import { sendRecord } from '../../../executions/send-execution.ts'
import { readCaller, storableId } from '../../../request/read-headers.ts'

/**
 * POST /v1/sandbox/{id}/executions/{execution}/cancel: cancels an execution of the key's project (flows §4.11).
 * @throws Refusal as its record would be refused
 */
export function cancelExecution(
  deps: Pick<Deps, 'keyGate' | 'concurrencyLimiter' | 'ledger'>,
): RequestHandler<{ id: string; execution: string }> {
  return (req, res) => {
    const [sandbox, execution] = [storableId(req.params.id), storableId(req.params.execution)]
    return withPermit(deps, res, async (keyHash) => {
      const caller = readCaller(req, keyHash)
      const answer = await deps.ledger.cancelExecution({ caller, project: null, execution, sandbox })
      if ('refused' in answer) throw refusalFor(answer.refused, 'invoke')
      res.setHeader('X-Service-Invocation', execution)
      sendRecord(res, answer.record)
    })
  }
}
