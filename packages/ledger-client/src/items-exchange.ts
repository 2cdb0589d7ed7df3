import type { Dispatcher, Pool } from 'undici'
import type { OutcomeLine } from '@gateway/contracts/ledger-items'
import { isFinalStatus, LedgerRejected } from './ledger-failures.ts'
import { openLineReader } from './line-reader.ts'

export interface ItemsRequest {
  path: string
  token: string
  /** NDJSON, an `ItemLine` each. */
  body: string
  /** The whole exchange is cut off after this. */
  limitMs: number
  /** It is cut off as well where nothing comes for so long: the ledger says more often that it is there. */
  silentMs: number
}

/** How an exchange ended. Whatever has no outcome by then has none. */
export type ExchangeEnd =
  | { kind: 'complete' }
  /** The connection failed, was cut or took too long, or the status was one that may pass. */
  | { kind: 'cut' }
  | { kind: 'unauthorized' }
  | { kind: 'rejected'; error: LedgerRejected }

export interface ItemsReceiver {
  outcome(line: OutcomeLine): void
  /** Called once, and nothing after it. */
  end(end: ExchangeEnd): void
}

/** A saved answer of 1 MB, with its JSON escapes. */
const MAX_LINE_BYTES = 16 * 1024 * 1024
const MAX_ERROR_BYTES = 4_096

/**
 * One POST /items, on undici's lowest level: outcomes are handed on as their lines arrive.
 * Answers a function that cancels the exchange: its connection is closed and the receiver is called no more.
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
        end({ kind: 'cut' }) // no line of the ledger's
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

const CANCELLED = new Error('nobody waits for this answer any more')

function endOf(status: number, path: string, text: string): ExchangeEnd {
  if (status === 200) return { kind: 'complete' }
  if (status === 401) return { kind: 'unauthorized' }
  return isFinalStatus(status) ? { kind: 'rejected', error: new LedgerRejected(path, status, text) } : { kind: 'cut' }
}
