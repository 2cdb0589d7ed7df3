import type { RequestHandler } from 'express'
import { refusalFor } from '@gateway/ledger-protocol/ledger-refusal'
import { sendJson } from '@gateway/service-kit/http/answers'
import { askWithPermit } from '../../admission/limits.ts'
import type { Deps } from '../../deps.ts'
import { storableId } from '../../request/read-headers.ts'

/**
 * GET /v1/invocations/{id}: a call of this key or its lineage, with its charge or the amount reserved for it (rules
 * §6.12).
 * @throws Refusal as the admission of a call would, `invocation_not_found` or `invocation_archived`
 */
export function showInvocation(
  deps: Pick<Deps, 'keyGate' | 'concurrencyLimiter' | 'ledger'>,
): RequestHandler<{ id: string }> {
  return async (req, res) => {
    const invocation = storableId(req.params.id)
    const answer = await askWithPermit(deps, req, (caller) => deps.ledger.readInvocation({ ...caller, invocation }))
    if ('refused' in answer) throw refusalFor(answer.refused, 'chat')
    res.setHeader('X-Service-Invocation', answer.record.id)
    sendJson(res, 200, JSON.stringify(answer.record), { 'Cache-Control': 'private, no-store' })
  }
}
