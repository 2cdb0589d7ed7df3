import type { LedgerClient } from '@gateway/ledger-client/ledger-client'
import type { Notifier } from '@gateway/notifier/notifier'
import type { Work } from './run-node.ts'
import { stopSignalOf } from './stop-signal.ts'
import { WorkEnded } from './work-ended.ts'

// What ends the work on a node early.
//   E1  The run's five minutes are over: the claim says how much of them is left.
//   E2  This worker stops, and the time it gives to its work has passed.
//   E3  The run has begun to fail. A notifier says so; because a ring may come without a cause, and may be lost, the ledger is asked
//       by a repeated claim at each ring and now and then besides. It grants the lease again as long as the work is wanted.
// What has not begun to wait for a provider isn't worth E3: it is listened for when it is asked for.

export interface Ending {
  /** Aborts with a `WorkEnded`. */
  signal: AbortSignal
  /** From now on it matters whether the run fails (E3). */
  listen(): void
  close(): void
}

export type OpenEnding = (work: Work, signal: AbortSignal) => Ending

interface Deps {
  ledger: Pick<LedgerClient, 'claim'>
  notifier: Pick<Notifier, 'listen'>
}

const LOOK_EACH_MS = 5_000
const LOOK_MS = 2_000

export function endingOpener({ ledger, notifier }: Deps): OpenEnding {
  return ({ claim: { remainingMs, attempt }, lease }, jobSignal) => {
    const aborter = new AbortController()
    const end = (why: WorkEnded['why']) => aborter.abort(new WorkEnded(why))
    const timer = setTimeout(() => end('overdue'), Math.max(0, remainingMs)) // E1
    const stop = stopSignalOf(jobSignal)
    const stopped = () => end('stopping') // E2
    if (stop.aborted) stopped()
    else stop.addEventListener('abort', stopped)

    let leaveNotifier = () => {}
    let looking: NodeJS.Timeout | null = null
    let asking = false
    let again = false

    /** One question at a time; a ring that comes meanwhile is looked after with the next one. */
    async function look(): Promise<void> {
      if (asking) return void (again = true)
      asking = true
      do {
        again = false
        const outcome = await ledger
          .claim({ ...lease, attempt }, { budgetMs: LOOK_MS, traced: false })
          .catch(() => null)
        if (outcome?.kind === 'nothing-to-do') end('run-ending')
      } while (again && !aborter.signal.aborted)
      asking = false
    }

    return {
      signal: aborter.signal,
      listen() {
        leaveNotifier = notifier.listen(`end:${lease.execution}`, () => void look())
        void look() // it may have begun to fail since the claim
        looking = setInterval(() => void look(), LOOK_EACH_MS)
      },
      close() {
        clearTimeout(timer)
        if (looking) clearInterval(looking)
        stop.removeEventListener('abort', stopped)
        leaveNotifier()
      },
    }
  }
}
