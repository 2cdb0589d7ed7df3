import { setTimeout as delay } from 'node:timers/promises'
import { LedgerUnavailable } from '@gateway/ledger-client/ledger-failures'
import { backOffMs } from '../run/back-off.ts'

/** Asks the ledger something that may be asked twice, until it answers. Rejects with the signal's reason once that aborts. */
export async function askUntil<Answer>(signal: AbortSignal, ask: () => Promise<Answer>): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    signal.throwIfAborted()
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof LedgerUnavailable)) throw error
    }
    await delay(backOffMs(tries), undefined, { signal }).catch(() => {})
  }
}
