import { setTimeout as wait } from 'node:timers/promises'
import { backOffMs } from '@gateway/service-kit/async/back-off'
import { refusalFor } from '@gateway/contracts/ledger-refusal'
import { LedgerUnavailable } from '@gateway/ledger-client/ledger-failures'
import type { ConsoleDeps } from '../deps.ts'

/** A short execution is told of at once; a long one is asked about once a second. */
const PAUSE = { firstMs: 25, maxMs: 1_000 }

export interface Followed {
  project: string
  execution: string
  /** The last line that its reader has; -1: none. */
  after: number
}

/**
 * The lines of progress of an execution as they come, as NDJSON text, to `complete`; the first look is answered also where it
 * finds no line yet. The ledger is asked again and again: an execution goes on without listeners, so a ledger that can't be
 * reached for a while only makes its lines late.
 *
 * Each look is authorised anew, behind the reading: what is handed on was there while its reader might still read it.
 * @param authorize throws a Refusal once they may not any more
 * @param disconnected aborts when nobody listens any more; the promise then rejects
 * @throws Refusal `execution_not_found`
 */
export async function* followExecution(
  { ledger }: Pick<ConsoleDeps, 'ledger'>,
  { project, execution, after: from }: Followed,
  authorize: () => Promise<void>,
  disconnected: AbortSignal,
): AsyncGenerator<string> {
  let after = from
  let found = false
  for (let quiet = 1; ; quiet++) {
    disconnected.throwIfAborted()
    const news = await ledger.followExecution({ execution, after, project }).catch((error: unknown) => {
      if (error instanceof LedgerUnavailable) return null
      throw error
    })
    await authorize()
    if (news !== null && 'refused' in news) throw refusalFor(news.refused, 'console')
    if (news !== null && (!found || news.seq > after)) {
      yield news.lines
      after = Math.max(after, news.seq)
      found = true
      quiet = 1
    }
    if (news?.done) return
    await wait(backOffMs(quiet, PAUSE), undefined, { signal: disconnected })
  }
}
