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

/** What to subscribe to for the lines of an execution. */
export const lineTopicOf = (execution: string) => execution

const NOTHING_NEW = { lines: '', seq: -1, done: false }

export async function streamProgress(
  { ledger, openCalls }: Pick<Deps, 'ledger' | 'openCalls'>,
  stream: ResponseStream,
  { execution, waitForChange }: Execution,
  disconnected: AbortSignal,
): Promise<void> {
  stream.open()
  for (let after = -1; ; await waitForChange()) {
    const { lines, seq, done } = await ledger.followExecution({ execution, after }).catch((error: unknown) => {
      if (error instanceof LedgerUnavailable) return NOTHING_NEW
      throw error
    })
    if (done) return stream.end(lines)
    if (lines !== '') await stream.write(lines) // P2
    after = Math.max(after, seq) // P1
    if (disconnected.aborted) return
    if (openCalls.cancellation.aborted) return stream.end('') // P3
  }
}
