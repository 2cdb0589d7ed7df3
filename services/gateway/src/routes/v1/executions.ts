import type { RequestHandler, Response } from 'express'
import { refusalFor } from '@gateway/ledger-protocol/ledger-refusal'
import { asFollower, withPermit } from '../../admission/limits.ts'
import type { Deps } from '../../deps.ts'
import { lineTopicOf, refusedLine, sendRecord, streamProgress } from '../../executions/send-execution.ts'
import { readCaller, storableId } from '../../request/read-headers.ts'
import type { CallerQuestion } from '@gateway/ledger-protocol/ledger-reads'
import { disconnectSignal } from '@gateway/service-kit/http/read-body'
import { explainError } from '../../errors/explain-error.ts'
import { subscribe } from '../../executions/start-execution.ts'
import { readProgressQuery } from '../../request/read-invocation.ts'
import { JSON_LINES, openResponseStream } from '../../response/response-stream.ts'

/**
 * GET /v1/executions/{id}: the current record of an execution of the key's project (flows §4.3).
 * @throws Refusal as the admission of a call would, or `execution_not_found`
 */
export function showExecution(
  deps: Pick<Deps, 'keyGate' | 'concurrencyLimiter' | 'ledger'>,
): RequestHandler<{ id: string }> {
  return (req, res) => {
    const execution = storableId(req.params.id)
    return withPermit(deps, res, async (keyHash) => {
      const caller = readCaller(req, keyHash)
      const answer = await deps.ledger.readExecution({ caller, project: null, execution })
      if ('refused' in answer) throw refusalFor(answer.refused, 'invoke')
      res.setHeader('X-Service-Invocation', execution)
      sendRecord(res, answer.record)
    })
  }
}

interface Followed {
  execution: string
  project: string
  caller: CallerQuestion
  after: number
}

/**
 * GET /v1/executions/{id}/progress: the lines after `after` of an execution of the key's project, regardless of who
 * started it (flows §4.4).
 * @throws Refusal `invalid_request`, or as the record of the execution would be refused
 */
export function followExecution(deps: Deps): RequestHandler<{ id: string }> {
  return (req, res) =>
    withPermit(deps, res, (keyHash, _permit, project) => {
      const caller = readCaller(req, keyHash)
      const { after } = readProgressQuery(req.query)
      const followed = { execution: storableId(req.params.id), project, caller, after }
      return asFollower(deps, { keyHash, project }, () => deps.openCalls.run(() => follow(deps, res, followed)))
    })
}

async function follow(deps: Deps, res: Response, followed: Followed): Promise<void> {
  const { execution } = followed
  const disconnected = disconnectSignal(res)
  const { waitForChange, pushed, close } = subscribe(deps, lineTopicOf(execution), disconnected)
  try {
    const found = await deps.lookAtProgress(followed) // first, so that a refusal gets its HTTP status
    if ('refused' in found) throw refusalFor(found.refused, 'invoke')
    res.setHeader('X-Service-Invocation', execution)
    const stream = openResponseStream(res, { now: deps.now, kind: JSON_LINES })
    await streamProgress(deps, stream, { ...followed, replayed: false, waitForChange, pushed }, disconnected).catch(
      (error: unknown) => stream.end(refusedLine(explainError(deps, error, res))),
    )
  } finally {
    close()
  }
}
