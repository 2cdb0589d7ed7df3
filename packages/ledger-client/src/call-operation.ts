import { setTimeout as wait } from 'node:timers/promises'
import type { Pool } from 'undici'
import { backOffMs } from '@gateway/async/back-off'
import { isFinalStatus, LedgerRejected, LedgerUnavailable } from './ledger-failures.ts'
import type { TokenSource } from './service-token.ts'

export interface Connection {
  pool: Pool
  /** What the ledger's paths are under. */
  base: string
  token: TokenSource
  /** Aborted when the client closes. */
  closed: AbortSignal
}

export interface CallLimits {
  /** How long the caller waits. */
  budgetMs: number
  /** How long one try may take. Its connection is closed then: another try takes another. */
  tryMs: number
}

const BACK_OFF = { firstMs: 25, maxMs: 1_000 }

/**
 * POSTs one JSON object to the ledger and answers the one that it sends back. Each operation may be called twice with the same
 * effect, so what fails in transport, or is not answered within a try, is sent again while its budget lasts.
 * @throws LedgerUnavailable when the budget ends first or the client closes
 * @throws LedgerRejected when the ledger refuses the request as such
 */
export async function callOperation(
  connection: Connection,
  path: string,
  request: object,
  { budgetMs, tryMs }: CallLimits,
  traceparent?: string,
): Promise<object> {
  const { base, token, closed } = connection
  const body = JSON.stringify(request)
  const signal = AbortSignal.any([closed, AbortSignal.timeout(Math.ceil(budgetMs))])
  for (let tries = 0; !signal.aborted; tries++) {
    if (tries > 0) await wait(backOffMs(tries, BACK_OFF), undefined, { signal }).catch(() => {})
    const trying = AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(tryMs))])
    const response = await post(connection, path, body, traceparent, trying).catch(() => null)
    if (response === null) continue
    if (response.status === 200) return response.value
    if (response.status === 401) token.renew()
    if (isFinalStatus(response.status))
      throw new LedgerRejected(base + path, response.status, JSON.stringify(response.value))
  }
  throw new LedgerUnavailable({ why: 'unavailable' })
}

async function post(
  { pool, base, token }: Connection,
  path: string,
  body: string,
  traceparent: string | undefined,
  signal: AbortSignal,
): Promise<{ status: number; value: object }> {
  const headers = {
    authorization: `Bearer ${await token.current()}`,
    'content-type': 'application/json',
    ...(traceparent !== undefined && { traceparent }),
  }
  const response = await pool.request({ path: base + path, method: 'POST', headers, body, signal })
  return { status: response.statusCode, value: (await response.body.json()) as object }
}
