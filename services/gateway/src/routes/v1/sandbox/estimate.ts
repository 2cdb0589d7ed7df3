import type { Request, RequestHandler } from 'express'
import { sendJson } from '@gateway/service-kit/http/answers'
import { storableRevision } from '../../../request/read-invocation.ts'
import { readEstimateRequest } from '@gateway/api/estimate'
import { refusalFor } from '@gateway/ledger-protocol/ledger-refusal'
import { flowLimits } from '@gateway/api/limits'
import { parseJson, readBody } from '@gateway/service-kit/http/read-body'
import { withPermit } from '../../../admission/limits.ts'
import type { Deps } from '../../../deps.ts'
import { refuseRepeatedHeaders, selectorOf, storableId } from '../../../request/read-headers.ts'

type Needed = Pick<Deps, 'keyGate' | 'concurrencyLimiter' | 'ledger' | 'refusals' | 'estimator'>
type EstimateRequest = Request<{ id: string }>

/** POST /v1/sandbox/{id}/estimate: the maximum charge of an execution with this input (money §7.6). Starts nothing. */
export function estimateSandbox(deps: Needed): RequestHandler<{ id: string }> {
  return (req, res) => {
    deps.refusals.nameModel(res, req.params.id)
    return withPermit(deps, res, async (keyHash, _permit, project) => {
      const question = () => readQuestion(req, keyHash)
      const answer = await deps.estimator.estimate(project, question, async (asked) => {
        const facts = await deps.ledger.estimateSandbox(asked)
        if ('refused' in facts) throw refusalFor(facts.refused, 'invoke')
        return facts
      })
      sendJson(res, 200, JSON.stringify(answer), { 'Cache-Control': 'private, no-store' })
    })
  }
}

async function readQuestion(req: EstimateRequest, keyHash: string) {
  refuseRepeatedHeaders(req)
  const body = readEstimateRequest(parseJson(await readBody(req, flowLimits.bodyBytes)))
  return {
    caller: { keyHash, selector: selectorOf(req, body.projectId) },
    sandbox: storableId(req.params.id),
    revision: storableRevision(body.revision),
    input: body.input,
  }
}
