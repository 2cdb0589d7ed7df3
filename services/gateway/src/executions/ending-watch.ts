import { openItemBatcher } from '@gateway/service-kit/async/batcher'
import type { LedgerClient } from '@gateway/ledger-client/ledger-client'

// Polls whether the executions that callers wait for have ended, because a notification can be lost.
//   E1  All callers poll at the same instants, and their polls are batched: ten thousand waiting callers cost ten
//       queries a second.
//   E2  A failed query fails the polls it contains; their callers poll again.

export interface EndingWatch {
  /** @throws LedgerUnavailable */
  hasEnded(execution: string): Promise<boolean>
}

interface Look {
  execution: string
  resolve: (ended: boolean) => void
  reject: (error: unknown) => void
}

/** The ledger's limit per query. */
const MAX_EXECUTIONS = 1_000
const MAX_CONCURRENT_QUESTIONS = 4

export function openEndingWatch({ ledger }: { ledger: Pick<LedgerClient, 'endedExecutions'> }): EndingWatch {
  const looks = openItemBatcher<Look>({
    maxItems: MAX_EXECUTIONS,
    run: ask,
    concurrency: MAX_CONCURRENT_QUESTIONS,
    defer: setImmediate, // after the timers that are due
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
