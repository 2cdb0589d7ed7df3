import { setTimeout as wait } from 'node:timers/promises'
import type { Pool } from 'undici'
import { isFinalStatus, LedgerRejected, LedgerUnavailable } from './ledger-failures.ts'
import type { TokenSource } from './service-token.ts'

export interface AskDeps {
  pool: Pool
  /** What the ledger's paths are under. */
  base: string
  token: TokenSource
  /** Aborted when the client closes. */
  closed: AbortSignal
}

export type AskLedger = <Answer>(
  path: string,
  question: object,
  budgetMs: number,
  traceparent?: string,
) => Promise<Answer>

const BACK_OFF_MS = { first: 25, most: 1_000 }

/**
 * Answers a function that POSTs one JSON object to the ledger and reads one. Each endpoint may be asked twice with the same
 * effect, so what fails in transport is asked again while its budget lasts.
 * @throws LedgerUnavailable from that function when the budget (milliseconds) ends first or the client closes
 * @throws LedgerRejected from that function when the ledger refuses the question as such
 */
export function askingLedger({ pool, base, token, closed }: AskDeps): AskLedger {
  return async (path, question, budgetMs, traceparent) => {
    const body = JSON.stringify(question)
    const signal = AbortSignal.any([closed, AbortSignal.timeout(Math.ceil(budgetMs))])
    for (let tries = 0; !signal.aborted; tries++) {
      const backOffMs = tries === 0 ? 0 : Math.min(BACK_OFF_MS.first * 2 ** (tries - 1), BACK_OFF_MS.most)
      if (tries > 0) await wait(backOffMs, undefined, { signal }).catch(() => {})
      const answer = await ask(path, body, traceparent, signal).catch(() => null)
      if (answer === null) continue
      if (answer.status === 200) return answer.value as never
      if (answer.status === 401) token.renew()
      if (isFinalStatus(answer.status))
        throw new LedgerRejected(base + path, answer.status, JSON.stringify(answer.value))
    }
    throw new LedgerUnavailable({ why: 'unavailable' })
  }

  async function ask(
    path: string,
    body: string,
    traceparent: string | undefined,
    signal: AbortSignal,
  ): Promise<{ status: number; value: unknown }> {
    const headers = {
      authorization: `Bearer ${await token.current()}`,
      'content-type': 'application/json',
      ...(traceparent !== undefined && { traceparent }),
    }
    const answer = await pool.request({ path: base + path, method: 'POST', headers, body, signal })
    return { status: answer.statusCode, value: await answer.body.json() }
  }
}
