import type { Dispatcher, Pool } from 'undici'
import type { OutcomeLine } from '@gateway/ledger-protocol/ledger-items'
import { isFinalStatus, LedgerRejected } from './call-operation.ts'

export interface ItemsRequest {
  path: string
  token: string
  /** NDJSON, one `ItemLine` per line. */
  body: string
  /** Time after which the whole exchange is cut off. */
  limitMs: number
  /** Time without any bytes after which it is cut off too: the ledger sends signs of life more often. */
  silentMs: number
}

/** How an exchange ended. Items without an outcome by then get none. */
export type ExchangeEnd =
  | { kind: 'complete' }
  /** The connection failed, was cut or took too long, or the status may be temporary. */
  | { kind: 'cut' }
  | { kind: 'unauthorized' }
  | { kind: 'rejected'; error: LedgerRejected }

export interface ItemsReceiver {
  outcome(line: OutcomeLine): void
  /** Called once, as the last call. */
  end(end: ExchangeEnd): void
}

/** A saved answer of 1 MB, with its JSON escapes. */
const MAX_LINE_BYTES = 16 * 1024 * 1024
const MAX_ERROR_BYTES = 4_096

/**
 * Sends one POST /items on undici's lowest level; outcomes are delivered as their lines arrive.
 * Returns a function that cancels the exchange: its connection is closed and the receiver is no longer called.
 */
export function startItemsExchange(pool: Pool, request: ItemsRequest, receiver: ItemsReceiver): () => void {
  let ended = false
  let controller: Dispatcher.DispatchController | null = null
  let status = 0
  let error = ''
  const timer = setTimeout(() => end({ kind: 'cut' }), request.limitMs)
  const silence = setTimeout(() => end({ kind: 'cut' }), request.silentMs)
  const readLines = openLineReader((line) => {
    if (!ended) receiver.outcome(JSON.parse(line) as OutcomeLine)
  }, MAX_LINE_BYTES)

  function stop(): boolean {
    if (ended) return false
    ended = true
    clearTimeout(timer)
    clearTimeout(silence)
    return true
  }

  function end(how: ExchangeEnd): void {
    if (!stop()) return
    if (how.kind !== 'complete') controller?.abort(CANCELLED)
    receiver.end(how)
  }

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(control) {
      controller = control
      if (ended) control.abort(CANCELLED)
    },
    onResponseStart(_control, statusCode) {
      status = statusCode
    },
    onResponseData(_control, chunk) {
      if (ended) return
      silence.refresh()
      if (status !== 200) {
        if (error.length < MAX_ERROR_BYTES) error += chunk.toString()
        return
      }
      try {
        readLines(chunk)
      } catch {
        end({ kind: 'cut' }) // not a line from the ledger
      }
    },
    onResponseEnd() {
      end(endOf(status, request.path, error))
    },
    onResponseError() {
      end({ kind: 'cut' })
    },
  }
  pool.dispatch(
    {
      path: request.path,
      method: 'POST',
      headers: ['authorization', `Bearer ${request.token}`, 'content-type', 'application/x-ndjson'],
      body: request.body,
    },
    handler,
  )
  return () => {
    if (stop()) controller?.abort(CANCELLED)
  }
}

const CANCELLED = new Error('every caller waiting for this answer has left')

function endOf(status: number, path: string, text: string): ExchangeEnd {
  if (status === 200) return { kind: 'complete' }
  if (status === 401) return { kind: 'unauthorized' }
  return isFinalStatus(status) ? { kind: 'rejected', error: new LedgerRejected(path, status, text) } : { kind: 'cut' }
}

const NEWLINE = 0x0a

/**
 * Splits a stream of bytes into lines of text. Returns a function that takes a chunk and delivers each line it
 * completes, without its newline; a last line without one is never delivered, because it may be cut.
 * @throws RangeError from that function, for a line of more than `mostBytes`
 */
export function openLineReader(onLine: (line: string) => void, mostBytes: number): (chunk: Buffer) => void {
  let held: Buffer[] = []
  let heldBytes = 0

  return (chunk) => {
    const end = chunk.lastIndexOf(NEWLINE)
    if (end < 0) {
      heldBytes += chunk.length
      if (heldBytes > mostBytes) throw new RangeError(`a line is longer than ${mostBytes} bytes`)
      held.push(chunk)
      return
    }
    // Only whole lines are decoded, so no character is cut in two.
    const text =
      held.length === 0 ? chunk.toString('utf8', 0, end) : Buffer.concat([...held, chunk.subarray(0, end)]).toString()
    held = end + 1 < chunk.length ? [chunk.subarray(end + 1)] : []
    heldBytes = chunk.length - end - 1
    let start = 0
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', start)) {
      if (at > start) onLine(text.slice(start, at))
      start = at + 1
    }
    if (start < text.length) onLine(text.slice(start))
  }
}
