import { flowLimits, times } from '@gateway/api/limits'
import { refusalFor } from '@gateway/ledger-protocol/ledger-refusal'
import { untilNextLook } from '@gateway/service-kit/async/waiting'
import { ClientDisconnected } from '@gateway/service-kit/http/read-body'
import { LedgerUnavailable } from '@gateway/ledger-client/call-operation'
import type { Deps } from '../deps.ts'
import { continues } from '../errors/explain-error.ts'
import type { Execution } from './start-execution.ts'

// Waits for the end of an execution.
//   W1  The execution doesn't depend on its caller or on this wait: the caller may disconnect, and the ledger may be
//       unavailable for a while.
//   W2  The caller that started the execution waits as long as an execution can take. A repeat waits a minute, and
//       everything that a repeat is checked for is checked again at each poll (rules §5.2).
//   W4  The reader of the record is authorized again: a caller who has lost access gets the refusal, like the reader of
//       its progress (P4 of send-execution.ts). The execution is charged regardless.
//   W3  A notification says that the execution has ended, so the record is read. Without one, only whether it has ended
//       is queried. The caller that started it subscribed before the start, so it waits for the notification first.

/** Topic that is notified when the execution ends. */
export const endTopicOf = (execution: string) => `done:${execution}`

type Needed = Pick<Deps, 'ledger' | 'endings' | 'openCalls' | 'now'>

const EXECUTION_MS = flowLimits.firstClaimMs + flowLimits.executionMs + 60_000
/** Poll interval without notifications. */
const LOOK_EVERY_MS = 1_000

export interface EndedExecution {
  /** Compact JSON text. */
  record: string
  /** Output field, if by the contract it is the only one and an image; otherwise null. */
  image: string | null
}

/**
 * Returns the ended execution.
 * @throws Refusal `idempotency_in_progress`; as its record would be refused now; `unavailable` if this process stops and the caller has no idempotency key
 * to retry with
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
    const ended = await look(deps, execution, mayHaveEnded).catch(nullIfUnavailable)
    if (ended !== null) return ended
    if (disconnected.aborted) throw new ClientDisconnected()
    if (openCalls.cancellation.aborted || now() >= untilMs) throw continues(execution)
    mayHaveEnded = await waitForEnd()
    if (execution.replayed) await execution.askAgain().catch(nullIfUnavailable)
  }
}

/** W1 */
function nullIfUnavailable(error: unknown): null {
  if (error instanceof LedgerUnavailable) return null
  throw error
}

async function look(
  { ledger, endings }: Needed,
  { execution, caller }: Execution,
  mayHaveEnded: boolean,
): Promise<EndedExecution | null> {
  if (!mayHaveEnded && !(await endings.hasEnded(execution))) return null // W3
  const answer = await ledger.readExecution({ caller, project: null, execution })
  if ('refused' in answer) throw refusalFor(answer.refused, 'invoke') // W4
  return answer.done ? { record: answer.record, image: answer.image } : null
}
