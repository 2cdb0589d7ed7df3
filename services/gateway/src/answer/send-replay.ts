import type { ServerResponse } from 'node:http'
import type { Replay } from '../admit/admit-call.ts'
import { limitLastWords } from './last-words.ts'

/** Answers a repeat with what was saved for the first call, byte for byte; of a stream, all of its events at once (spec 4.2). */
export function sendReplay(res: ServerResponse, { contentType, body }: Replay): void {
  if (res.destroyed) return
  res.setHeader('Idempotent-Replayed', 'true')
  res.writeHead(200, { 'Content-Type': contentType, 'Content-Length': Buffer.byteLength(body) }).end(body)
  limitLastWords(res)
}
