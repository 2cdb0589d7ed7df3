import type { Dispatcher, Pool } from 'undici'
import type { OutcomeLine } from '@gateway/contracts/ledger-outcomes'
import { isFinalStatus, LedgerRejected } from './ledger-failures.ts'
import { openLineReader } from './line-reader.ts'

export interface ItemsRequest {
  path: string
  token: string
  /** NDJSON, an `ItemLine` each. */
  body: string
  /** The whole exchange is cut off after this. */
  limitMs: number
}

/** How an exchange ended. Whatever has no outcome by then has none. */
export type Ending =
  | { kind: 'complete' }
  /** The connection failed, was cut or took too long, or the status was one that may pass. */
  | { kind: 'cut' }
  | { kind: 'unauthorized' }
  | { kind: 'rejected'; error: LedgerRejected }

export interface ItemsReceiver {
  outcome(line: OutcomeLine): void
  /** Called once, and nothing after it. */
  end(ending: Ending): void
}

/** A saved answer of 1 MB, with its JSON escapes. */
const MOST_LINE_BYTES = 16 * 1024 * 1024
const MOST_ERROR_BYTES = 4_096

/**
 * One POST /items, on undici's lowest level: outcomes are handed on as their lines arrive.
 * Answers a function that leaves the exchange: its connection is closed and the receiver hears no more.
 */
export function startItemsExchange(pool: Pool, request: ItemsRequest, receiver: ItemsReceiver): () => void {
  let over = false
  let controller: Dispatcher.DispatchController | null = null
  let status = 0
  let error = ''
  const timer = setTimeout(() => end({ kind: 'cut' }), request.limitMs)
  const readLines = openLineReader((line) => {
    if (!over) receiver.outcome(JSON.parse(line) as OutcomeLine)
  }, MOST_LINE_BYTES)

  function leave(): boolean {
    if (over) return false
    over = true
    clearTimeout(timer)
    return true
  }

  function end(ending: Ending): void {
    if (!leave()) return
    if (ending.kind !== 'complete') controller?.abort(LEFT)
    receiver.end(ending)
  }

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(control) {
      controller = control
      if (over) control.abort(LEFT)
    },
    onResponseStart(_control, statusCode) {
      status = statusCode
    },
    onResponseData(_control, chunk) {
      if (over) return
      if (status !== 200) {
        if (error.length < MOST_ERROR_BYTES) error += chunk.toString()
        return
      }
      try {
        readLines(chunk)
      } catch {
        end({ kind: 'cut' }) // no line of the ledger's
      }
    },
    onResponseEnd() {
      end(endingOf(status, request.path, error))
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
    if (leave()) controller?.abort(LEFT)
  }
}

const LEFT = new Error('nobody waits for this answer any more')

function endingOf(status: number, path: string, text: string): Ending {
  if (status === 200) return { kind: 'complete' }
  if (status === 401) return { kind: 'unauthorized' }
  return isFinalStatus(status) ? { kind: 'rejected', error: new LedgerRejected(path, status, text) } : { kind: 'cut' }
}
