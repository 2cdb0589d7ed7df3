import { setTimeout as delay } from 'node:timers/promises'
import { type BackOffLimits, backOffMs } from '@gateway/service-kit/async/waiting'
import { LedgerUnavailable } from '@gateway/ledger-client/call-operation'

const BACK_OFF: BackOffLimits = { firstMs: 25, maxMs: 1_000 }

/** Repeats an idempotent ledger request until it is answered. Rejects with the signal's reason once that aborts. */
export async function askUntilAnswered<Answer>(signal: AbortSignal, ask: () => Promise<Answer>): Promise<Answer> {
  for (let failures = 1; ; failures++) {
    signal.throwIfAborted()
    const answer = await nullIfUnavailable(ask)
    if (answer !== null) return answer
    await pause(failures, signal)
  }
}

/** Returns the ledger's response, or null if it is unreachable. */
export async function nullIfUnavailable<Answer>(ask: () => Promise<Answer>): Promise<Answer | null> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof LedgerUnavailable) return null
    throw error
  }
}

/** Waits before the next retry, with backoff up to one second, or until the signal aborts. Never rejects. */
export async function pause(failures: number, signal: AbortSignal): Promise<void> {
  await delay(backOffMs(failures, BACK_OFF), undefined, { signal }).catch(() => {})
}
