import type { ErrorRequestHandler } from 'express'
import { sendJson } from '../answer/send-json.ts'
import { CallerGone } from '../receive/caller-gone.ts'
import { discardRest } from '../receive/discard-rest.ts'
import type { ExplainFailure } from './explain-failure.ts'

/** The one place where a failure becomes an answer (decisions.md, 1). */
export function answerFailure(explain: ExplainFailure): ErrorRequestHandler {
  return (error: unknown, req, res, _next) => {
    if (error instanceof CallerGone) return
    const { status, body, headers } = explain(error, res)
    if (res.headersSent) return void res.destroy()
    sendJson(res, status, JSON.stringify({ error: body }), headers)
    discardRest(req)
  }
}
