import type { IncomingMessage } from 'node:http'
import type { RequestHandler } from 'express'
import { refusalFor } from '@gateway/contracts/ledger-refusal'
import type { ModelEntry } from '@gateway/contracts/model-entry'
import { refuse } from '@gateway/contracts/refusal'
import type { LedgerClient } from '@gateway/ledger-client/ledger-client'
import { sendJson } from '../answer/send-json.ts'
import { readCaller } from '../receive/read-caller.ts'

interface Deps {
  ledger: Pick<LedgerClient, 'models'>
}

/** GET /v1/models (spec 4.1): what this key can call now. An empty list is an answer. */
export function listModels(deps: Deps): RequestHandler {
  return async (req, res) => {
    sendJson(res, 200, JSON.stringify({ object: 'list', data: await callableModels(deps, req) }), PRIVATE)
  }
}

/** GET /v1/models/{id}: one of them. An id may hold slashes, percent-encoded or as they are. */
export function showModel(deps: Deps): RequestHandler<{ id: string[] }> {
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
async function callableModels({ ledger }: Deps, req: IncomingMessage): Promise<ModelEntry[]> {
  const answer = await ledger.models(readCaller(req))
  if ('refused' in answer) throw refusalFor(answer.refused, 'chat')
  return answer.entries
}
