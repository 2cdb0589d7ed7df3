import type { StoppedBy } from '@gateway/api/execution'
import { JobAborted } from '@gateway/node-queue/node-job'
import type { Deps } from '../deps.ts'
import { WorkCancelled, type Cancellation, type CancelReason, type Work } from '../work.ts'

// Cancels the work on a node:
//   E1  The execution's five minutes are over: the claim states the time left.
//   E2  This worker stops, and its drain time has passed.
//   E3  The execution is failing or was cancelled. A notification reports it, but notifications can be spurious or
//       lost, so the worker repeats its claim on each of them and periodically. The ledger grants the lease again as
//       long as the work is wanted.
// E3 matters only while waiting for a provider, so the execution is watched from the moment `watchExecution` is called.
// If it was already failing by then, the admission of the call, which comes next, reports it (B9 of run_batch.sql).

const LOOK_EACH_MS = 5_000
const LOOK_MS = 2_000

/** @param jobSignal signal of the queue for this job */
export function openCancellation(
  { ledger, notifier }: Pick<Deps, 'ledger' | 'notifier'>,
  { claim: { remainingMs, attempt }, lease }: Work,
  jobSignal: AbortSignal,
): Cancellation & { close(): void } {
  const aborter = new AbortController()
  const cancel = (reason: CancelReason, by?: StoppedBy) => aborter.abort(new WorkCancelled(reason, by))
  const timer = setTimeout(() => cancel('overdue'), Math.max(0, remainingMs)) // E1
  const stop = stopSignalOf(jobSignal)
  const onStop = () => cancel('stopping') // E2
  if (stop.aborted) onStop()
  else stop.addEventListener('abort', onStop)

  let unsubscribe = () => {}
  let interval: NodeJS.Timeout | undefined
  let looking = false
  let again = false

  /** Runs one check at a time; a notification during a check triggers another one. */
  async function look(): Promise<void> {
    if (looking) return void (again = true)
    looking = true
    do {
      again = false
      const outcome = await ledger.claim({ ...lease, attempt }, { budgetMs: LOOK_MS, traced: false }).catch(() => null)
      if (outcome?.kind === 'nothing-to-do') {
        const by = outcome.cancelled
        cancel(by === undefined ? 'execution-ending' : 'execution-stopped', by)
      }
    } while (again && !aborter.signal.aborted)
    looking = false
  }

  return {
    signal: aborter.signal,
    watchExecution() {
      unsubscribe = notifier.subscribe(`end:${lease.execution}`, () => void look())
      interval = setInterval(() => void look(), LOOK_EACH_MS)
    },
    close() {
      clearTimeout(timer)
      clearInterval(interval)
      stop.removeEventListener('abort', onStop)
      unsubscribe()
    },
  }
}

/** Whether the work was cancelled because a user or key cancelled the execution. */
export function wasStopped({ reason }: AbortSignal): boolean {
  return reason instanceof WorkCancelled && reason.by !== null
}

/**
 * Aborts when this worker has to stop, with the signal's reason, but not when the queue's lock is lost (N4 of
 * run-node.ts).
 */
export function stopSignalOf(jobSignal: AbortSignal): AbortSignal {
  const stop = new AbortController()
  const onAbort = () => {
    const { reason } = jobSignal
    if (reason instanceof JobAborted && reason.reason === 'stopping') stop.abort(reason)
  }
  if (jobSignal.aborted) onAbort()
  else jobSignal.addEventListener('abort', onAbort, { once: true })
  return stop.signal
}
