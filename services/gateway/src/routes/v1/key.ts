import type { RequestHandler } from 'express'
import { refusalFor } from '@gateway/contracts/ledger-refusal'
import { sendJson } from '@gateway/service-kit/http/send'
import { askWithPermit } from '../../admission/limits.ts'
import type { Deps } from '../../deps.ts'
import { readCaller } from '../../request/read-headers.ts'

/**
 * GET /v1/key: who am I, and what may I still spend.
 * @throws Refusal as the admission of a call would
 */
export function showKey(deps: Pick<Deps, 'concurrencyLimiter' | 'ledger'>): RequestHandler {
  return async (req, res) => {
    const caller = readCaller(req)
    const answer = await askWithPermit(deps.concurrencyLimiter, caller.keyHash, () => deps.ledger.key(caller))
    if ('refused' in answer) throw refusalFor(answer.refused, 'chat')
    sendJson(res, 200, JSON.stringify(answer.key), { 'Cache-Control': 'private, no-store' })
  }
}
