import { setTimeout as wait } from 'node:timers/promises'
import { LedgerUnavailable } from '@gateway/ledger-client/ledger-failures'
import type { ConsoleDeps } from '../deps.ts'

/** A short run is told at once; a long one is asked about once a second. */
const PAUSE_MS = { first: 25, most: 1_000 }

/**
 * The lines of progress of a run as they come, as NDJSON text, from the first to `complete`. The ledger is asked again and
 * again: a run goes on whoever listens, so what keeps the ledger away for a while only makes its lines late.
 * @param gone aborts when nobody listens any more; the promise then rejects
 */
export async function* followExecution(
  { ledger }: Pick<ConsoleDeps, 'ledger'>,
  execution: string,
  gone: AbortSignal,
): AsyncGenerator<string> {
  let after = -1
  for (let pauseMs = PAUSE_MS.first; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MS.most)) {
    gone.throwIfAborted()
    const news = await ledger.followExecution({ execution, after }).catch((error: unknown) => {
      if (error instanceof LedgerUnavailable) return null
      throw error
    })
    if (news !== null && news.seq > after) {
      yield news.lines
      after = news.seq
      pauseMs = PAUSE_MS.first
    }
    if (news?.done) return
    await wait(pauseMs, undefined, { signal: gone })
  }
}
