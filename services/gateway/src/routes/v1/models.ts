import type { IncomingMessage } from 'node:http'
import type { RequestHandler } from 'express'
import { refusalFor } from '@gateway/ledger-protocol/ledger-refusal'
import type { ModelEntry } from '@gateway/api/model-entry'
import { refuse } from '@gateway/api/refusal'
import { sendJson } from '@gateway/service-kit/http/answers'
import { askWithPermit } from '../../admission/limits.ts'
import type { Deps } from '../../deps.ts'
import { readCaller } from '../../request/read-headers.ts'

type Needed = Pick<Deps, 'concurrencyLimiter' | 'ledger'>

/** GET /v1/models (rules §4.1): what this key can call now. An empty list is an answer. */
export function listModels(deps: Needed): RequestHandler {
  return async (req, res) => {
    sendJson(res, 200, JSON.stringify({ object: 'list', data: await callableModels(deps, req) }), PRIVATE)
  }
}

/** GET /v1/models/{id}: one of them. An id may hold slashes, percent-encoded or unchanged. */
export function showModel(deps: Needed): RequestHandler<{ id: string[] }> {
  return async (req, res) => {
    const model = req.params.id.join('/')
    const entry = (await callableModels(deps, req)).find(({ id }) => id === model)
    if (!entry) throw refuse('model_not_found', { model }, { param: 'model' })
    sendJson(res, 200, JSON.stringify(entry), PRIVATE)
  }
}

/** Another key, or the same a moment later, may see another list. */
const PRIVATE = { 'Cache-Control': 'private, no-store' }

/** @throws Refusal as the admission of a call would */
async function callableModels({ concurrencyLimiter, ledger }: Needed, req: IncomingMessage): Promise<ModelEntry[]> {
  const caller = readCaller(req)
  const answer = await askWithPermit(concurrencyLimiter, caller.keyHash, () => ledger.models(caller))
  if ('refused' in answer) throw refusalFor(answer.refused, 'chat')
  return answer.entries
}
