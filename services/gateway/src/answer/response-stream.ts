import type { ServerResponse } from 'node:http'
import { NDJSON } from '../receive/answer-wanted.ts'
import { KEEP_ALIVE } from './event-lines.ts'
import { limitLastWords } from './last-words.ts'

// The caller at the other end of a stream.
//   R1  Whatever he does, the call goes on: nothing here rejects, and what he can't take any more is dropped.
//   R2  He may lag by LAG_BYTES. Beyond that the provider waits for him, PATIENCE_MS in all; then he is let go, because a call
//       that waits for its reader runs into its own time limit.
//   R3  What keeps proxies awake is sent only after the headers and only into silence.

export interface ResponseStream {
  /** Sends the headers now, if they aren't sent yet. */
  open(): void
  isOpen(): boolean
  /** Resolves when more may be written. Opens if need be. */
  write(events: string): Promise<void> | undefined
  /** Writes the last events and ends the answer. Opens if need be. */
  end(events: string): void
}

/** What a stream is made of: by its type, and what is written into silence. */
export interface StreamKind {
  contentType: string
  keepAlive: string
}

interface Options {
  now: () => number
  kind?: StreamKind
  lagBytes?: number
  patienceMs?: number
  quietMs?: number
}

export const EVENT_STREAM = 'text/event-stream; charset=utf-8'

const LAG_BYTES = 256 * 1024
const PATIENCE_MS = 30_000
const QUIET_MS = 15_000

const EVENTS: StreamKind = { contentType: EVENT_STREAM, keepAlive: KEEP_ALIVE }
/** Lines of JSON, which may have blanks before them (decisions.md, 6). */
export const JSON_LINES: StreamKind = { contentType: NDJSON, keepAlive: ' ' }

const HEADERS = {
  'Cache-Control': 'no-cache, no-transform',
  // Asks a buffering proxy to pass each event on as it comes.
  'X-Accel-Buffering': 'no',
}

export function openResponseStream(
  res: ServerResponse,
  { now, kind = EVENTS, lagBytes = LAG_BYTES, patienceMs = PATIENCE_MS, quietMs = QUIET_MS }: Options,
): ResponseStream {
  let opened = false
  let patienceLeftMs = patienceMs
  let quiet: NodeJS.Timeout | undefined
  res.on('error', () => {}) // R1
  res.once('close', () => clearInterval(quiet))

  /** The headers leave with the first events, or when they are flushed. */
  function begin(): void {
    if (opened || res.destroyed) return
    opened = true
    res.writeHead(200, { 'Content-Type': kind.contentType, ...HEADERS })
    quiet = setInterval(() => {
      if (!res.writableNeedDrain) res.write(kind.keepAlive) // R3
    }, quietMs).unref()
  }

  /** Waits until he has taken everything, has gone, or his time is up (R2). */
  async function caughtUp(): Promise<void> {
    const startedMs = now()
    await new Promise<void>((resolve) => {
      const letGo = setTimeout(() => res.destroy(), patienceLeftMs)
      function over(): void {
        clearTimeout(letGo)
        res.off('drain', over).off('close', over)
        resolve()
      }
      res.on('drain', over).on('close', over)
    })
    patienceLeftMs = Math.max(0, patienceLeftMs - (now() - startedMs))
  }

  return {
    open() {
      begin()
      if (!res.destroyed) res.flushHeaders()
    },
    isOpen: () => opened,
    write(events) {
      begin()
      if (res.destroyed) return undefined // R1
      quiet?.refresh()
      res.write(events)
      return res.writableLength > lagBytes ? caughtUp() : undefined
    },
    end(events) {
      begin()
      clearInterval(quiet)
      if (res.destroyed) return
      res.end(events)
      limitLastWords(res)
    },
  }
}
