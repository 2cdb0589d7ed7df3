import { setTimeout as wait } from 'node:timers/promises'
import type { Pool } from 'undici'
import { backOffMs } from '@gateway/service-kit/async/waiting'
import type { RequestSigner } from './service-token.ts'

/**
 * Sends one try of an operation: its path, the request as JSON and the caller's span. Rejects if there is no answer, and
 * when the signal aborts.
 */
export type SendOperation = (
  path: string,
  body: string,
  traceparent: string | undefined,
  signal: AbortSignal,
) => Promise<{ status: number; value: object }>

export interface Connection {
  send: SendOperation
  /** Aborted when the client closes. */
  closed: AbortSignal
}

export interface CallLimits {
  /** How long the caller waits. */
  budgetMs: number
  /** How long one try may take. Then its connection is closed, or its channel gets no new requests: the next try takes another. */
  tryMs: number
}

const BACK_OFF = { firstMs: 25, maxMs: 1_000 }

/**
 * Sends one JSON object to the ledger and returns the answer. Every operation is safe to repeat, so a try that fails
 * in transport or is not answered in time is repeated while the budget lasts.
 * @throws LedgerUnavailable when the budget ends first or the client closes
 * @throws LedgerRejected when the ledger refuses the request as such
 */
export async function callOperation(
  { send, closed }: Connection,
  path: string,
  request: object,
  { budgetMs, tryMs }: CallLimits,
  traceparent?: string,
): Promise<object> {
  const body = JSON.stringify(request)
  const limit = openLimit(closed, budgetMs)
  try {
    for (let tries = 0; !limit.isOver(); tries++) {
      if (tries > 0)
        await wait(backOffMs(tries, BACK_OFF), undefined, { signal: limit.signalFor(budgetMs) }).catch(() => {})
      const response = await send(path, body, traceparent, limit.signalFor(tryMs)).catch(nullUnlessFinal)
      if (response === null) continue
      if (response.status === 200) return response.value
      if (isFinalStatus(response.status))
        throw new LedgerRejected(path, response.status, JSON.stringify(response.value))
    }
    throw new LedgerUnavailable({ why: 'unavailable' })
  } finally {
    limit.close()
  }
}

/** One signal per step, and one timer: composed signals (AbortSignal.any) cost each call more than the rest of it. */
function openLimit(closed: AbortSignal, budgetMs: number) {
  const endsMs = performance.now() + budgetMs
  let step = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const abort = () => step.abort()
  closed.addEventListener('abort', abort)

  return {
    isOver: () => closed.aborted || performance.now() >= endsMs,
    /** Ends the previous step. Aborts after `ms`, at the end of the budget, and when the client closes. */
    signalFor(ms: number): AbortSignal {
      step = new AbortController()
      clearTimeout(timer)
      timer = setTimeout(abort, Math.ceil(Math.min(ms, Math.max(0, endsMs - performance.now()))))
      if (closed.aborted) step.abort()
      return step.signal
    },
    close() {
      clearTimeout(timer)
      closed.removeEventListener('abort', abort)
    },
  }
}

function nullUnlessFinal(error: unknown): null {
  if (error instanceof LedgerRejected || error instanceof LedgerUnavailable) throw error
  return null
}

/** Sends operations as HTTP requests, each signed. */
export function openRequestSender(pool: Pool, base: string, signer: RequestSigner): SendOperation {
  return async (path, body, traceparent, signal) => {
    const headers = {
      authorization: `Bearer ${signer.sign(path, body)}`,
      'content-type': 'application/json',
      ...(traceparent !== undefined && { traceparent }),
    }
    const response = await pool.request({ path: base + path, method: 'POST', headers, body, signal })
    return { status: response.statusCode, value: (await response.body.json()) as object }
  }
}

/** The ledger gave no decision in time, or would not take the item. An admission then leaves nothing reserved. */
export class LedgerUnavailable extends Error {
  readonly why: 'unavailable' | 'overloaded'

  constructor({ why }: { why: 'unavailable' | 'overloaded' }) {
    super(`the ledger is ${why}`)
    this.why = why
  }
}

/**
 * The ledger refused a request as malformed or not permitted: a bug or a wrong setting, which repeating can't clear.
 */
export class LedgerRejected extends Error {
  /** The ledger's HTTP status. */
  readonly status: number

  constructor(path: string, status: number, text: string) {
    super(`the ledger rejected ${path} with ${status}: ${text.slice(0, 500)}`)
    this.status = status
  }
}

/** Statuses that the same request would get again. 401 is not one of them: the next try has a new token. */
export function isFinalStatus(status: number): boolean {
  return status >= 400 && status < 500 && status !== 401 && status !== 408 && status !== 429
}
