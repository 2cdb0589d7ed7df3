import { flowLimits, times } from '@gateway/api/limits'
import { Refusal, refuse } from '@gateway/api/refusal'
import { ClientDisconnected } from '@gateway/service-kit/http/read-body'
import { LedgerUnavailable } from '@gateway/ledger-client/call-operation'
import type { Deps } from '../deps.ts'
import { untilNextLook } from './ending-watch.ts'
import type { Execution } from './start-execution.ts'

// Waiting for the end of an execution.
//   W1  The execution does not need its caller: they may leave, and the ledger may be away for a while.
//   W2  The caller who began it waits as long as an execution may take. A caller who repeats its beginning waits a
//       minute, and all that a repeat is checked for is checked again at each look (rules §5.2).
//   W3  After a notification, which says that it has ended, the record is read; without one only its end is asked for.
//       The caller who began it has been subscribed since before it began, so they wait for the notification first.

/** What to subscribe to for the end of an execution. */
export const endTopicOf = (execution: string) => `done:${execution}`

type Needed = Pick<Deps, 'ledger' | 'endings' | 'openCalls' | 'now'>

const EXECUTION_MS = flowLimits.firstClaimMs + flowLimits.executionMs + 60_000
/** How often to look where no notification comes. */
const LOOK_EVERY_MS = 1_000

export interface EndedExecution {
  /** Compact JSON text. */
  record: string
  /** The field that is all of its output and an image by its contract; null where the output is anything else. */
  image: string | null
}

/**
 * Answers the ended execution.
 * @throws Refusal `idempotency_in_progress`; `unavailable` where this process stops and there is no key to come back
 * with
 * @throws ClientDisconnected
 */
export async function awaitExecution(
  deps: Needed,
  execution: Execution,
  disconnected: AbortSignal,
  lookEveryMs = LOOK_EVERY_MS,
): Promise<EndedExecution> {
  const { now, openCalls } = deps
  const untilMs = now() + (execution.replayed ? times.joinMs : EXECUTION_MS) // W2
  const waitForEnd = async () => (await execution.waitForChange(untilNextLook(now(), lookEveryMs))) === 'woken'
  let mayHaveEnded = execution.replayed || (await waitForEnd()) // W3
  for (;;) {
    const ended = await look(deps, execution, mayHaveEnded).catch((error: unknown) => {
      if (error instanceof LedgerUnavailable) return null // W1
      throw error
    })
    if (ended !== null) return ended
    if (disconnected.aborted) throw new ClientDisconnected()
    if (openCalls.cancellation.aborted || now() >= untilMs) throw goesOn(execution)
    mayHaveEnded = await waitForEnd()
    if (execution.replayed) await execution.askAgain()
  }
}

async function look(
  { ledger, endings }: Needed,
  { execution, project }: Execution,
  mayHaveEnded: boolean,
): Promise<EndedExecution | null> {
  if (!mayHaveEnded && !(await endings.hasEnded(execution))) return null // W3
  const answer = await ledger.readExecution({ caller: null, project, execution })
  if ('refused' in answer) throw new Error(`the ledger does not know ${execution}, which it began`)
  return answer.done ? { record: answer.record, image: answer.image } : null
}

function goesOn({ keyed, execution }: Execution): Refusal {
  if (keyed) return refuse('idempotency_in_progress', {})
  return new Refusal(
    'unavailable',
    `The service could not wait for the execution ${execution}, which continues and is charged.`,
    `Read it at GET /v1/executions/${execution}. Repeating the request would begin another execution.`,
    { retryAfterMs: null, headers: { 'x-should-retry': 'false' } },
  )
}
