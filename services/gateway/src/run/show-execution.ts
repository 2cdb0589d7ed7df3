import type { RequestHandler } from 'express'
import { refusalFor } from '@gateway/contracts/ledger-refusal'
import type { LedgerClient } from '@gateway/ledger-client/ledger-client'
import type { ConcurrencyLimiter } from '../admit/concurrency-limiter.ts'
import { inPlace } from '../receive/in-place.ts'
import { readCaller } from '../receive/read-caller.ts'
import { storable } from '../receive/selector.ts'
import { sendRecord } from './send-run.ts'

interface Deps {
  places: Pick<ConcurrencyLimiter, 'take'>
  ledger: Pick<LedgerClient, 'readExecution'>
}

/** No id of ours is longer. */
const MOST_CHARACTERS = 256

/**
 * GET /v1/executions/{id}: the record of a run of the key's project, as far as it has come (decisions.md, 6).
 * @throws Refusal as the admission of a call would, or `execution_not_found`
 */
export function showExecution({ places, ledger }: Deps): RequestHandler<{ id: string }> {
  return (req, res) => {
    const caller = readCaller(req)
    const execution = storable(req.params.id).slice(0, MOST_CHARACTERS)
    return inPlace(places, res, caller.keyHash, async () => {
      const answer = await ledger.readExecution({ caller, project: null, execution })
      if ('refused' in answer) throw refusalFor(answer.refused, 'invoke')
      res.setHeader('X-Service-Invocation', execution)
      sendRecord(res, answer.record)
    })
  }
}
