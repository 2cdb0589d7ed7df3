import type { LedgerClient } from '@gateway/ledger-client/ledger-client'
import { LedgerUnavailable } from '@gateway/ledger-client/ledger-failures'
import type { ResponseStream } from '../answer/response-stream.ts'
import type { Execution } from './start-run.ts'

// The progress of a run, as lines (spec 6).
//   P1  Lines are the ledger's text, asked for behind the last one that was written: none is missed and none comes twice, whatever
//       the notifier loses.
//   P2  Who reads slowly is waited for before the next lines are asked for; who leaves is let go. The run knows neither.
//   P3  A stopping process ends the answer behind a whole line. That it is not the last one is seen by its kind.

export type StreamProgress = (reader: ResponseStream, execution: Execution, gone: AbortSignal) => Promise<void>

interface Deps {
  ledger: Pick<LedgerClient, 'followExecution'>
  ending: AbortSignal
}

/** What to listen to for the lines of a run. */
export const lineTopicOf = (execution: string) => execution

const NOTHING_NEW = { lines: '', seq: -1, done: false }

export function progressStreamer({ ledger, ending }: Deps): StreamProgress {
  return async (reader, { execution, waiter }, gone) => {
    reader.open()
    for (let after = -1; ; await waiter.next()) {
      const { lines, seq, done } = await ledger.followExecution({ execution, after }).catch((error: unknown) => {
        if (error instanceof LedgerUnavailable) return NOTHING_NEW
        throw error
      })
      if (done) return reader.end(lines)
      if (lines !== '') await reader.write(lines) // P2
      after = Math.max(after, seq) // P1
      if (gone.aborted) return
      if (ending.aborted) return reader.end('') // P3
    }
  }
}
