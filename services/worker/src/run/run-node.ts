import type { NextNode } from '@gateway/node-queue/node-worker'
import type { NodeJob } from '@gateway/node-queue/node-job'
import type { Deps } from '../deps.ts'
import { performNode } from '../perform/perform-node.ts'
import type { Work } from '../work.ts'
import { openCancellation, wasStopped } from './cancellation.ts'
import { claimNode } from './claim-node.ts'
import { completeNode } from './complete-node.ts'

// Runs one node of one execution. The queue delivers at least once and a worker may die at any moment, so:
//   N1  A recorded result is never computed again: who works has the ledger's lease, and there is none for what is recorded.
//   N2  A paid node pays under (execution, node): performed twice, it is charged once. What an attempt has reserved closes with
//       its lease.
//   N3  Recording is one transaction. Notifying and enqueueing come after it, are the ledger's, and may be repeated.
//   N4  The lease counts and not the queue's lock: who lost the lock continues, and anyone who is given the job too gets nothing to
//       do. Who lost the lease is answered `fenced` and stops without a word.
//   N5  The ledger hears of every lease that it may have granted us: a claim is repeated until it is answered, and so is a
//       completion. Else the node would be ours, and idle, for as long as this process lives.
//   N6  Who ends a node continues with one that may run because of it: the ledger grants it with the completion, and the way through
//       the queue is saved. For a slice of time, and after that while no one waits for the place (W5 of node-worker.ts). It is a
//       node like any other, with a lease and an attempt, and gets its own job when it is given back or this process is gone.

/** Takes a job of the queue: claim, perform, complete. Answers what to continue with; null: there is nothing left to do about it. */
export async function runNode(
  deps: Deps,
  { execution, node, attempt }: NodeJob,
  signal: AbortSignal,
  mayGoOn: () => boolean,
): Promise<NextNode | null> {
  const work = await claimNode(deps, { execution, node, lease: deps.newLease() }, attempt, signal) // N1
  if (work === null) {
    deps.metrics.nothingToDo()
    return null
  }
  return runClaimed(deps, work, signal, mayGoOn)
}

/** @param mayGoOn whether it takes another node to continue with (N6) */
async function runClaimed(
  deps: Deps,
  work: Work,
  signal: AbortSignal,
  mayGoOn: () => boolean,
): Promise<NextNode | null> {
  const { metrics, now } = deps
  const claimedMs = now()
  const cancellation = openCancellation(deps, work, signal)
  try {
    const performed = await performNode(deps, work, cancellation) // N2
    const durationMs = now() - claimedMs
    const goesOn = performed.result.kind === 'succeeded' && mayGoOn()
    const { recorded, next } = await completeNode(deps, work, performed, durationMs, goesOn) // N3, N4, N5
    const how = recorded === 'failed' && wasStopped(cancellation.signal) ? 'cancelled' : recorded
    metrics.nodeEnded(work.claim.node.kind, how, { durationMs, remoteMs: performed.remoteMs })
    if (next === null) return null
    const { node, attempt } = { node: next.lease.node, attempt: next.claim.attempt }
    return { node, attempt, run: (signal) => runClaimed(deps, next, signal, mayGoOn) }
  } finally {
    cancellation.close()
  }
}
