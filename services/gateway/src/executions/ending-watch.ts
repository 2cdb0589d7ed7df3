import { openItemBatcher } from '@gateway/service-kit/async/batcher'
import type { LedgerClient } from '@gateway/ledger-client/ledger-client'

// Whether executions have ended, of all that callers wait for here. A notification says so and may be lost, so each is also looked at
// again and again, for as long as it takes.
//   E1  Everybody looks at the same moments, and their looks are one question: ten thousand who wait cost ten questions a second.
//   E2  A look that fails fails for those who share it; they look again.

export interface EndingWatch {
  /** @throws LedgerUnavailable */
  hasEnded(execution: string): Promise<boolean>
}

interface Look {
  execution: string
  resolve: (ended: boolean) => void
  reject: (error: unknown) => void
}

/** As many as the ledger takes. */
const MAX_EXECUTIONS = 1_000
const MAX_CONCURRENT_QUESTIONS = 4

export function openEndingWatch({ ledger }: { ledger: Pick<LedgerClient, 'endedExecutions'> }): EndingWatch {
  const looks = openItemBatcher<Look>({
    maxItems: MAX_EXECUTIONS,
    run: ask,
    concurrency: MAX_CONCURRENT_QUESTIONS,
    defer: setImmediate, // after the timers at hand
  })

  async function ask(batch: Look[]): Promise<void> {
    const executions = [...new Set(batch.map(({ execution }) => execution))]
    try {
      const { ended } = await ledger.endedExecutions({ executions })
      const known = new Set(ended)
      for (const { execution, resolve } of batch) resolve(known.has(execution))
    } catch (error) {
      for (const { reject } of batch) reject(error) // E2
    }
  }

  return {
    hasEnded: (execution) => new Promise((resolve, reject) => looks.add({ execution, resolve, reject })),
  }
}

/** How long it is until the next of the moments at which everybody looks (E1). Milliseconds, more than 0. */
export function untilNextLook(nowMs: number, everyMs: number): number {
  return everyMs - (nowMs % everyMs)
}
