import type { ServerResponse } from 'node:http'
import type { ChatWire } from '@gateway/api/wires/wire'
import { times } from '@gateway/api/limits'
import { limitFlush } from '@gateway/service-kit/http/answers'
import { NDJSON } from '../request/read-invocation.ts'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'

// A stream to a caller that may lag or disconnect.
//   R1  The call continues regardless of the caller: nothing here rejects, and undeliverable events are dropped.
//   R2  A caller may lag by LAG_BYTES. Beyond that the provider waits for it, PATIENCE_MS in total; then its connection
//       is closed, because a call that waits for its caller runs into its own time limit.
//   R3  Keep-alives are sent only after the headers, and only while nothing else is sent.
//   R4  Events that come together, as from one packet of the provider, are sent in one write: a write costs several times
//       what an event does. They leave before the process waits for anything again.

export interface ResponseStream {
  /** Sends the headers now, if they aren't sent yet. */
  open(): void
  isOpen(): boolean
  /** Resolves when more can be written. Opens the stream if needed. */
  write(events: string): Promise<void> | undefined
  /** Writes the last events and ends the response. Opens the stream if needed. */
  end(events: string): void
}

/** Content type and keep-alive bytes of a stream. */
export interface StreamKind {
  contentType: string
  keepAlive: string
}

interface Options {
  /** Milliseconds, from any clock. */
  now: () => number
  kind: StreamKind
  lagBytes?: number
  patienceMs?: number
  quietMs?: number
}

export const EVENT_STREAM = 'text/event-stream; charset=utf-8'

const LAG_BYTES = 256 * 1024
const PATIENCE_MS = 30_000
const QUIET_MS = 15_000

/** Events of a wire. */
export function eventStream({ keepAlive }: Pick<ChatWire, 'keepAlive'>): StreamKind {
  return { contentType: EVENT_STREAM, keepAlive }
}
/** Lines of JSON. Spaces may precede a line (flows §4.4). */
export const JSON_LINES: StreamKind = { contentType: NDJSON, keepAlive: ' ' }

const HEADERS = {
  'Cache-Control': 'no-cache, no-transform',
  // Tells a buffering proxy to forward each event immediately.
  'X-Accel-Buffering': 'no',
}

export function openResponseStream(
  res: ServerResponse,
  { now, kind, lagBytes = LAG_BYTES, patienceMs = PATIENCE_MS, quietMs = QUIET_MS }: Options,
): ResponseStream {
  let opened = false
  let patienceLeftMs = patienceMs
  let quiet: NodeJS.Timeout | undefined
  let gathered = ''
  res.on('error', () => {}) // R1
  res.once('close', () => clearInterval(quiet))

  /** Writes the headers. They are sent with the first events or on flush. */
  function begin(): void {
    if (opened || res.destroyed) return
    opened = true
    res.writeHead(200, { 'Content-Type': kind.contentType, ...HEADERS })
    quiet = setInterval(() => {
      if (!res.writableNeedDrain) res.write(kind.keepAlive) // R3
    }, quietMs).unref()
  }

  /** R4 */
  function flush(): void {
    const events = gathered
    gathered = ''
    if (events === '' || res.destroyed) return
    quiet?.refresh()
    res.write(events)
  }

  /** Waits until the caller has caught up, has disconnected or is out of time (R2). */
  async function caughtUp(): Promise<void> {
    const startMs = now()
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => res.destroy(), patienceLeftMs)
      function finish(): void {
        clearTimeout(timer)
        res.off('drain', finish).off('close', finish)
        resolve()
      }
      res.on('drain', finish).on('close', finish)
    })
    patienceLeftMs = Math.max(0, patienceLeftMs - (now() - startMs))
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
      if (gathered === '') setImmediate(flush)
      gathered += events
      if (res.writableLength + gathered.length <= lagBytes) return undefined
      flush()
      return res.writableLength > lagBytes ? caughtUp() : undefined
    },
    end(events) {
      begin()
      clearInterval(quiet)
      if (res.destroyed) return
      res.end(gathered + events)
      gathered = ''
      limitFlush(res)
    },
  }
}

/** Waits for the start of a response. Sends the headers without it after 10 s. */
export async function openLate<T>(stream: ResponseStream | null, beginning: Promise<T>): Promise<T> {
  const timer = setTimeout(() => stream?.open(), times.headersWaitMs)
  try {
    return await beginning
  } finally {
    clearTimeout(timer)
  }
}

/** Response that is replayed to a repeat. */
export interface SavedAnswer {
  contentType: string
  body: string
}

// Stream events are repetitive, so a stream too large to save plain compresses well. The saved content type marks it as
// compressed and is never sent to a caller.

const PACKED = '; packed=gzip'
const [pack, unpack] = [promisify(gzip), promisify(gunzip)]

export async function packAnswer({ contentType, body }: SavedAnswer): Promise<SavedAnswer> {
  return { contentType: contentType + PACKED, body: (await pack(body)).toString('base64') }
}

/** Returns the response as it was sent, byte for byte. */
export async function unpackAnswer({ contentType, body }: SavedAnswer): Promise<SavedAnswer> {
  if (!contentType.endsWith(PACKED)) return { contentType, body }
  const bytes = await unpack(Buffer.from(body, 'base64'))
  return { contentType: contentType.slice(0, -PACKED.length), body: bytes.toString() }
}
