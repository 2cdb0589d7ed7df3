import type { ErrorRequestHandler, Request, Response } from 'express'
import { Refusal } from '@gateway/api/refusal'
import { ClientDisconnected, discardRest } from './read-body.ts'
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'

export interface HttpAnswer {
  status: number
  /** Sent as JSON; a string is sent unchanged, and its `Content-Type` is among the headers. */
  body: object | string
  headers?: Record<string, string>
}

/** The answer for anything thrown. Called once per error, so that it may count and log it. */
export type ExplainError = (error: unknown, req: Request, res: Response) => HttpAnswer

/**
 * The one place of a service where an error becomes an answer; mounted last.
 *   E1  A client that has left gets no answer, and its leaving is not an error.
 *   E2  An answer that has begun is broken off, so that no one takes it for whole.
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

interface Options {
  /** The service's name, as its folder has it. */
  service: string
  /** What is said of a failure that is not a refusal; what it was is logged and told no one. */
  failure: string
  log: { error(fields: object, message: string): void }
}

/**
 * What an internal service tells another one: `{ error }` with a sentence for anyone who reads a log. A refusal has its own status;
 * anything else thrown is 503, because the caller may ask again.
 */
export function internalAnswers({ service, failure, log }: Options): ExplainError {
  return (error, { path }) => {
    if (error instanceof Refusal) return { status: error.status, body: { error: sentenceOf(error) } }
    log.error({ err: error, path }, 'a request failed')
    return { status: 503, body: { error: failure } }
  }

  function sentenceOf({ code, body: { message, resolution } }: Refusal): string {
    if (code === 'not_found') return `There is nothing here; app.ts of the ${service} lists what there is.`
    return `${message} ${resolution}`
  }
}

/** How long a client may take over the rest of an answer that is whole. */
const FLUSH_TIMEOUT_MS = 60_000

/** Sends a whole answer of JSON, without what Express would add to it. Nothing happens when the client has left. */
export function sendJson(
  res: ServerResponse,
  status: number,
  json: string,
  headers: Record<string, string> = {},
): void {
  const length = Buffer.byteLength(json)
  send(res, status, json, { ...headers, 'Content-Type': 'application/json', 'Content-Length': length })
}

/** Sends a whole text of the `Content-Type` that is among `headers`. Nothing happens when the client has left. */
export function sendText(res: ServerResponse, status: number, text: string, headers: Record<string, string>): void {
  send(res, status, text, { ...headers, 'Content-Length': Buffer.byteLength(text) })
}

function send(res: ServerResponse, status: number, text: string, headers: OutgoingHttpHeaders): void {
  if (res.destroyed) return
  res.writeHead(status, headers).end(text)
  limitFlush(res)
}

/** Closes the connection of a client that takes nothing more of its answer, which is whole but not all sent. */
export function limitFlush(res: ServerResponse): void {
  if (res.writableLength > 0) res.setTimeout(FLUSH_TIMEOUT_MS)
}
