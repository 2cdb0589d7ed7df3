import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'

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
