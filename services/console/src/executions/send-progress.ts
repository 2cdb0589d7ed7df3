import type { Response } from 'express'
import { Refusal } from '@gateway/contracts/refusal'
import { disconnectSignal } from '@gateway/service-kit/http/client-disconnected'
import type { ConsoleDeps } from '../deps.ts'

/**
 * JSON and NDJSON may both have spaces before a line, so a space every so often keeps proxies from giving up
 * (flows §4.4).
 */
const KEEP_ALIVE_MS = 15_000
export const NDJSON = 'application/x-ndjson'

/**
 * Sends the lines of an execution as they come, or its record once they have ended. A reader who may not read any more gets
 * no further line.
 * @param linesUntil the lines, until its signal aborts
 * @param record null: the lines are the answer
 * @throws Refusal while nothing has been sent
 */
export async function sendProgress(
  { stopping }: Pick<ConsoleDeps, 'stopping'>,
  res: Response,
  linesUntil: (disconnected: AbortSignal) => AsyncIterable<string>,
  record: (() => Promise<string>) | null = null,
): Promise<void> {
  const disconnected = AbortSignal.any([disconnectSignal(res), stopping])
  res.type(record === null ? NDJSON : 'json')
  const keepAlive = setInterval(() => res.write(' '), KEEP_ALIVE_MS)
  try {
    for await (const lines of linesUntil(disconnected)) {
      if (record !== null) continue
      res.flushHeaders()
      if (lines !== '') res.write(lines)
    }
    res.end(record === null ? '' : await record())
  } catch (error) {
    if (disconnected.aborted) return void res.destroy() // the client has left, or this process ends: the record stays to be read
    if (record !== null || !res.headersSent || !(error instanceof Refusal)) throw error
    res.end(`${JSON.stringify({ kind: 'refused', error: error.body })}\n`)
  } finally {
    clearInterval(keepAlive)
  }
}
