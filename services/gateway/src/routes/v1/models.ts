import type { IncomingMessage } from 'node:http'
import type { RequestHandler } from 'express'
import { refusalFor } from '@gateway/ledger-protocol/ledger-refusal'
import type { ModelEntry } from '@gateway/api/model-entry'
import { refuse } from '@gateway/api/refusal'
import { sendJson } from '@gateway/service-kit/http/answers'
import { askWithPermit } from '../../admission/limits.ts'
import type { Deps } from '../../deps.ts'

type Needed = Pick<Deps, 'keyGate' | 'concurrencyLimiter' | 'ledger'>

/** GET /v1/models (rules §4.1): what this key can call now. The list may be empty. */
export function listModels(deps: Needed): RequestHandler {
  return async (req, res) => {
    sendJson(res, 200, JSON.stringify({ object: 'list', data: await callableModels(deps, req) }), PRIVATE)
  }
}

/** GET /v1/embeddings/models: the embedding models that this key can call now. */
export function listEmbeddingModels(deps: Needed): RequestHandler {
  return async (req, res) => {
    const data = await callableModels(deps, req, 'embedding')
    sendJson(res, 200, JSON.stringify({ object: 'list', data }), PRIVATE)
  }
}

/** GET /v1/models/{id}: one of them. An ID can contain slashes, percent-encoded or not. */
export function showModel(deps: Needed): RequestHandler<{ id: string[] }> {
  return async (req, res) => {
    const model = req.params.id.join('/')
    const entry = (await callableModels(deps, req)).find(({ id }) => id === model)
    if (!entry) throw refuse('model_not_found', { model }, { param: 'model' })
    sendJson(res, 200, JSON.stringify(entry), PRIVATE)
  }
}

/** The list depends on the key and changes over time. */
const PRIVATE = { 'Cache-Control': 'private, no-store' }

/** @throws Refusal as the admission of a call would */
async function callableModels(deps: Needed, req: IncomingMessage, kind?: 'embedding'): Promise<ModelEntry[]> {
  const answer = await askWithPermit(deps, req, (caller) => deps.ledger.models({ ...caller, ...(kind && { kind }) }))
  if ('refused' in answer) throw refusalFor(answer.refused, 'chat')
  return answer.entries
}
