import type { ErrorRequestHandler, Request, Response } from 'express'
import { Refusal } from '@gateway/api/refusal'
import { redactAnswer, redactForms } from '../text/redact.ts'
import { ClientDisconnected, discardRest } from './read-body.ts'
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'

export interface HttpAnswer {
  status: number
  /** Sent as JSON; a string is sent unchanged, with the `Content-Type` in the headers. */
  body: object | string
  headers?: Record<string, string>
}

/** Returns the response for a thrown value. Called once per error, so it may count and log it. */
export type ExplainError = (error: unknown, req: Request, res: Response) => HttpAnswer

/**
 * The only place of a service where an error becomes a response; mounted last.
 *   E1  A client that disconnected gets no response, and the disconnect is not an error.
 *   E2  A response that has started is broken off, so that no client takes it for complete.
 *   E3  The rest of the request's body is drained after the response (`discardRest`).
 *   E4  A credential that a caller put where it does not belong is not repeated: responses end up in other logs.
 */
export function answerErrors(explain: ExplainError): ErrorRequestHandler {
  return (error: unknown, req, res, _next) => {
    if (error instanceof ClientDisconnected) return // E1
    const { status, body, headers = {} } = explain(error, req, res)
    if (res.headersSent) return void res.destroy() // E2
    if (typeof body === 'string') sendText(res, status, body, headers)
    else sendJson(res, status, redactAnswer(JSON.stringify(body)), headers) // E4
    discardRest(req) // E3
  }
}

/** A refusal as the public services send it, with a link to the page on its resolution. */
export function answerOfRefusal({ status, body, headers }: Refusal): HttpAnswer {
  const help = `</docs/refusals/${body.code}>; rel="help"`
  return { status, body: { error: body }, headers: { Link: help, ...headers } }
}

interface Options {
  /** Name of the service, as its folder is named. */
  service: string
  /** Public message of a failure that is not a refusal; the cause is only logged. */
  failure: string
  log: { error(fields: object, message: string): void }
}

/**
 * The error response of an internal service: `{ error }` with a sentence for the log of the caller. A refusal has its
 * own status; any other error is 503, because the caller may retry.
 */
export function internalAnswers({ service, failure, log }: Options) {
  return (error: unknown, { path }: { path: string }): HttpAnswer & { body: object } => {
    if (error instanceof Refusal) return { status: error.status, body: { error: sentenceOf(error) } }
    log.error({ err: error, path }, 'request failed: unexpected error')
    return { status: 503, body: { error: failure } }
  }

  function sentenceOf({ code, body: { message, resolution } }: Refusal): string {
    if (code === 'not_found') return `There is nothing here; app.ts of the ${service} lists what there is.`
    return redactForms(`${message} ${resolution}`) // E4
  }
}

/** How long a client may pause while it reads the rest of a complete response. */
const FLUSH_TIMEOUT_MS = 60_000

/**
 * Sends a complete JSON response, without the headers that Express would add. Does nothing if the client has
 * disconnected.
 */
export function sendJson(
  res: ServerResponse,
  status: number,
  json: string,
  headers: Record<string, string> = {},
): void {
  const length = Buffer.byteLength(json)
  send(res, status, json, { ...headers, 'Content-Type': 'application/json', 'Content-Length': length })
}

/** Sends a complete text of the `Content-Type` in `headers`. Does nothing if the client has disconnected. */
export function sendText(res: ServerResponse, status: number, text: string, headers: Record<string, string>): void {
  send(res, status, text, { ...headers, 'Content-Length': Buffer.byteLength(text) })
}

function send(res: ServerResponse, status: number, text: string, headers: OutgoingHttpHeaders): void {
  if (res.destroyed) return
  res.writeHead(status, headers).end(text)
  limitFlush(res)
}

/** Closes the connection of a client that stops reading a complete response. */
export function limitFlush(res: ServerResponse): void {
  if (res.writableLength > 0) res.setTimeout(FLUSH_TIMEOUT_MS)
}

/** Closes the connection of a client that has not read a complete response within this time, even if it still reads. */
export function flushWithin(res: ServerResponse, ms: number): void {
  const timer = setTimeout(() => res.destroy(), ms).unref()
  res.once('close', () => clearTimeout(timer))
}
