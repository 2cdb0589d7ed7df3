import type { RefusedLine } from '@gateway/contracts/execution'
import { refusalFor } from '@gateway/contracts/ledger-refusal'
import { times } from '@gateway/contracts/limits'
import { refuse, type Refusal } from '@gateway/contracts/refusal'
import { LedgerUnavailable } from '@gateway/ledger-client/ledger-failures'
import type { Deps } from '../deps.ts'
import type { ResponseStream } from '../response/response-stream.ts'
import type { Execution } from './start-execution.ts'

// The progress of an execution, as lines (flows §4.4).
//   P1  Lines are the ledger's text, asked for after the last one that was written: none is missed and none comes
//       twice, whatever notifications are lost.
//   P2  A slow caller is waited for before the next lines are asked for; a caller who leaves is let go. The execution
//       notices neither.
//   P3  A stopping process ends the answer after a whole line. That it is not the last one is seen by its kind.
//   P4  Each look is authorised anew: who may not read any more gets no further line, and is told why. So is, after a
//       minute, who repeats the beginning of an execution that goes on (rules §5.2, §5.3).

/** What to subscribe to for the lines of an execution. */
export const lineTopicOf = (execution: string) => execution

/** How often to look where no notification comes. */
const LOOK_EVERY_MS = 1_000

const NOTHING_NEW = { lines: '', seq: -1, done: false }

type Followed = Pick<Execution, 'execution' | 'caller' | 'replayed' | 'waitForChange'> & {
  /** The last line that its reader has; absent: none. */
  after?: number
}

/** @throws Refusal as a repeat of its beginning would be refused now, `idempotency_in_progress` */
export async function streamProgress(
  { ledger, openCalls, now }: Pick<Deps, 'ledger' | 'openCalls' | 'now'>,
  stream: ResponseStream,
  { execution, caller, replayed, waitForChange, after: from = -1 }: Followed,
  disconnected: AbortSignal,
  lookEveryMs = LOOK_EVERY_MS,
): Promise<void> {
  const untilMs = replayed ? now() + times.joinMs : Infinity // P4
  stream.open()
  for (let after = from; ; await waitForChange(lookEveryMs)) {
    const answer = await ledger.followExecution({ execution, after, caller }).catch((error: unknown) => {
      if (error instanceof LedgerUnavailable) return NOTHING_NEW
      throw error
    })
    if ('refused' in answer) throw refusalFor(answer.refused, 'invoke') // P4
    const { lines, seq, done } = answer
    if (done) return stream.end(lines)
    if (lines !== '') await stream.write(lines) // P2
    after = Math.max(after, seq) // P1
    if (disconnected.aborted) return
    if (openCalls.cancellation.aborted) return stream.end('') // P3
    if (now() >= untilMs) throw refuse('idempotency_in_progress', {})
  }
}

/** The last line for a reader who gets no further one, with a newline behind it. */
export function refusedLine({ body }: Pick<Refusal, 'body'>): string {
  const line: RefusedLine = { kind: 'refused', error: body }
  return `${JSON.stringify(line)}\n`
}
