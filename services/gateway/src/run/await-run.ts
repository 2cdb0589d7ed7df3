import { flowLimits, times } from '@gateway/contracts/limits'
import { Refusal, refuse } from '@gateway/contracts/refusal'
import type { LedgerClient } from '@gateway/ledger-client/ledger-client'
import { LedgerUnavailable } from '@gateway/ledger-client/ledger-failures'
import { CallerGone } from '../receive/caller-gone.ts'
import type { Execution } from './start-run.ts'

// Waiting for the end of a run.
//   W1  The run doesn't need who waits for it: he may leave, and the ledger may be away for a while.
//   W2  Whoever began it waits as long as a run may take. Who repeats its beginning waits a minute, and all that a repeat is
//       checked for is checked anew at each look (decisions.md, 4).
//   W3  The notifier says that it has ended, so then the record is read; by itself only its end is asked for. Who began it has listened
//       since before it began, so he waits for the notifier first.

/** The record of an ended run, compact JSON text. */
export type AwaitExecution = (execution: Execution, gone: AbortSignal) => Promise<string>

interface Deps {
  ledger: Pick<LedgerClient, 'followExecution' | 'readExecution'>
  ending: AbortSignal
  now: () => number
  executionMs?: number
  joinMs?: number
}

/** What to listen to for the end of a run. */
export const endTopicOf = (execution: string) => `done:${execution}`

const EXECUTION_MS = flowLimits.firstClaimMs + flowLimits.executionMs + 60_000
/** No run has so many lines. */
const NO_LINES = 1_000_000_000

/**
 * @throws Refusal `idempotency_in_progress`; `unavailable` where this process stops and there is no key to come back with
 * @throws CallerGone
 */
export function executionAwaiter({
  ledger,
  ending,
  now,
  executionMs = EXECUTION_MS,
  joinMs = times.joinMs,
}: Deps): AwaitExecution {
  return async (execution, gone) => {
    const untilMs = now() + (execution.replayed ? joinMs : executionMs) // W2
    let mayHaveEnded = execution.replayed || (await execution.waiter.next()) === 'woken' // W3
    for (;;) {
      const record = await look(execution, mayHaveEnded).catch((error: unknown) => {
        if (error instanceof LedgerUnavailable) return null // W1
        throw error
      })
      if (record !== null) return record
      if (gone.aborted) throw new CallerGone()
      if (ending.aborted || now() >= untilMs) throw goesOn(execution)
      mayHaveEnded = (await execution.waiter.next()) === 'woken'
      if (execution.replayed) await execution.askAgain()
    }
  }

  async function look({ execution, project }: Execution, mayHaveEnded: boolean): Promise<string | null> {
    if (!mayHaveEnded && !(await ledger.followExecution({ execution, after: NO_LINES })).done) return null // W3
    const answer = await ledger.readExecution({ caller: null, project, execution })
    if ('refused' in answer) throw new Error(`the ledger does not know ${execution}, which it began`)
    return answer.done ? answer.record : null
  }
}

function goesOn({ keyed, execution }: Execution): Refusal {
  if (keyed) return refuse('idempotency_in_progress', {})
  return new Refusal(
    'unavailable',
    `The service could not wait for the run ${execution}, which goes on and is charged.`,
    `Read it at GET /v1/executions/${execution}. Repeating the request would begin another run.`,
    { headers: { 'x-should-retry': 'false' } },
  )
}
