import type { NodeJob } from '@gateway/node-queue/node-job'
import type { Delivery, NextNode } from '@gateway/node-queue/node-worker'
import type { Deps } from '../deps.ts'
import { performNode } from '../perform/perform-node.ts'
import { codeOf } from '../perform/perform-paid-node.ts'
import type { Work } from '../work.ts'
import { openCancellation, wasStopped } from './cancellation.ts'
import { claimNode } from './claim-node.ts'
import { completeNode } from './complete-node.ts'

// Runs one node of one execution. The queue delivers at least once and a worker may die at any moment, so:
//   N1  A recorded result is never computed again: work requires the ledger's lease, and none is granted for a recorded
//       node. The lease of a free node may be recorded with its result (R12 of decide-execution.ts).
//   N2  A paid node is charged under (execution, node): performed twice, it is charged once. The reservation of an
//       attempt closes with its lease.
//   N3  Recording is one transaction. The ledger notifies and enqueues afterwards, and may repeat both.
//   N4  The lease decides, not the queue's lock: a worker that lost the lock continues, and a worker that is delivered
//       the same job gets nothing to do. A worker that lost the lease gets `fenced` and stops silently.
//   N5  The ledger hears about every lease it may have granted: claims and completions are repeated until answered.
//       Otherwise the node would stay leased and idle for as long as this process lives.
//   N6  With NODE_SLICE_MS, a worker that ends a node continues for that time with a free node that became ready: the
//       ledger grants it with the completion, which saves the way through the queue (W5 of node-worker.ts). The chained
//       node has its own lease and attempt, and gets its own job if it is given back or this process dies.

/** Runs a job: claim, perform, complete. Returns the node to continue with, or null. */
export async function runNode(
  deps: Deps,
  { execution, node, attempt }: NodeJob,
  { signal, isFirst, mayGoOn }: Delivery,
): Promise<NextNode | null> {
  const work = await claimNode(deps, { execution, node, lease: deps.newLease() }, { attempt, isFirst }, signal) // N1
  if (work === null) {
    deps.metrics.nothingToDo()
    return null
  }
  return runClaimed(deps, work, signal, mayGoOn)
}

/** @param mayGoOn whether to continue with another node (N6) */
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
    if (how === 'failed' && performed.result.kind === 'failed') metrics.refused(codeOf(performed.result.error))
    if (next === null) return null
    const { node, attempt } = { node: next.lease.node, attempt: next.claim.attempt }
    return { node, attempt, run: (signal) => runClaimed(deps, next, signal, mayGoOn) }
  } finally {
    cancellation.close()
  }
}
