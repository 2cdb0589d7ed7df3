import type { RequestHandler } from 'express'
import { refusalFor } from '@gateway/contracts/ledger-refusal'
import { withPermit } from '../../admission/limits.ts'
import type { Deps } from '../../deps.ts'
import { sendRecord } from '../../executions/send-execution.ts'
import { readCaller, storableId } from '../../request/read-headers.ts'

/**
 * GET /v1/executions/{id}: the record of an execution of the key's project, as far as it has come (flows §4.3).
 * @throws Refusal as the admission of a call would, or `execution_not_found`
 */
export function showExecution(deps: Pick<Deps, 'concurrencyLimiter' | 'ledger'>): RequestHandler<{ id: string }> {
  return (req, res) => {
    const caller = readCaller(req)
    const execution = storableId(req.params.id)
    return withPermit(deps.concurrencyLimiter, res, caller.keyHash, async () => {
      const answer = await deps.ledger.readExecution({ caller, project: null, execution })
      if ('refused' in answer) throw refusalFor(answer.refused, 'invoke')
      res.setHeader('X-Service-Invocation', execution)
      sendRecord(res, answer.record)
    })
  }
}
