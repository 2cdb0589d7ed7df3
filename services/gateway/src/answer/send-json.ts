import type { ServerResponse } from 'node:http'
import { limitLastWords } from './last-words.ts'

/** Sends a whole answer of JSON, without what Express would add to it. Nothing happens when the caller has gone. */
export function sendJson(
  res: ServerResponse,
  status: number,
  json: string,
  headers: Record<string, string> = {},
): void {
  if (res.destroyed) return
  const length = Buffer.byteLength(json)
  res.writeHead(status, { ...headers, 'Content-Type': 'application/json', 'Content-Length': length }).end(json)
  limitLastWords(res)
}
