import type { ErrorRequestHandler, Request, Response } from 'express'
import type { Refusal } from '@gateway/contracts/refusal'
import { ClientDisconnected } from './client-disconnected.ts'
import { discardRest } from './discard-rest.ts'
import { sendJson, sendText } from './send.ts'

export interface HttpAnswer {
  status: number
  /** Sent as JSON; a string is sent as it is, and its `Content-Type` is among the headers. */
  body: object | string
  headers?: Record<string, string>
}

/** What a client is told of whatever was thrown. It is asked once an error, so that it may count and log it. */
export type ExplainError = (error: unknown, req: Request, res: Response) => HttpAnswer

/**
 * The one place of a service where an error becomes an answer; mounted last.
 *   E1  Who has left is told nothing, and their leaving is no error.
 *   E2  An answer that has begun is broken off, so that nobody takes it for whole.
 *   E3  What is left of the request's body runs out behind the answer (`discardRest`).
 */
export function answerErrors(explain: ExplainError): ErrorRequestHandler {
  return (error: unknown, req, res, _next) => {
    if (error instanceof ClientDisconnected) return // E1
    const { status, body, headers = {} } = explain(error, req, res)
    if (res.headersSent) return void res.destroy() // E2
    if (typeof body === 'string') sendText(res, status, body, headers)
    else sendJson(res, status, JSON.stringify(body), headers)
    discardRest(req) // E3
  }
}

/** A refusal as the public services say it, with the page that says what clears it. */
export function answerOfRefusal({ status, body, headers }: Refusal): HttpAnswer {
  const help = `</docs/refusals/${body.code}>; rel="help"`
  return { status, body: { error: body }, headers: { Link: help, ...headers } }
}
