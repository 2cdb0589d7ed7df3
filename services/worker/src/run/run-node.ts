import type { Claimed, ClaimItem, NodeLease } from '@gateway/contracts/flow-items'
import type { NodeJob } from '@gateway/node-queue/node-job'
import type { Metrics } from '../metrics.ts'
import type { Perform } from '../perform/perform.ts'
import type { ClaimNode } from './claim-node.ts'
import type { CompleteNode } from './complete-node.ts'
import type { OpenEnding } from './ending.ts'

// Runs one node of one run. The queue delivers at least once and a worker may die at any moment, so:
//   N1  A recorded result is never computed again: who works has the ledger's lease, and there is none for what is recorded.
//   N2  A paid node pays under (execution, node): run twice, it is charged once. What an attempt holds closes with its lease.
//   N3  Recording is one transaction; telling and moving on come after it, are the ledger's, and may be repeated.
//   N4  The lease counts and not the queue's lock: who lost the lock goes on, and whoever is given the job too gets nothing to
//       do. Who lost the lease is told `fenced` and stops without a word.
//   N5  What the ledger may have lent to us it hears of: a claim is repeated until it is answered, and so is a completion. Else
//       the node would be ours, and idle, for as long as this process lives.

/** A lease and in whose name it was taken. */
export type Lease = NodeLease & Pick<ClaimItem, 'instance'>

/** What there is to be done, and under which lease. */
export interface Work {
  claim: Claimed
  lease: Lease
}

interface Deps {
  claim: ClaimNode
  openEnding: OpenEnding
  perform: Perform
  complete: CompleteNode
  /** 32 hex digits, random. */
  mintLease: () => string
  metrics: Pick<Metrics, 'nodeEnded' | 'nothingToDo'>
  /** Monotonic milliseconds. */
  now: () => number
}

/** Takes a job of the queue: claim, perform, complete. Resolves when there is nothing left to do about it. */
export function nodeRunner({ claim, openEnding, perform, complete, mintLease, metrics, now }: Deps) {
  return async ({ execution, node, attempt }: NodeJob, signal: AbortSignal): Promise<void> => {
    const lent = await claim({ execution, node, lease: mintLease() }, attempt, signal) // N1
    if (lent === null) return metrics.nothingToDo()
    const claimedMs = now()
    const work: Work = { claim: lent.claim, lease: lent.lease }
    const ending = openEnding(work, signal)
    try {
      const performed = await perform(work, ending) // N2
      const durationMs = now() - claimedMs
      const how = await complete(work, performed, durationMs) // N3, N4, N5
      metrics.nodeEnded(lent.claim.node.kind, how, { durationMs, remoteMs: performed.remoteMs })
    } finally {
      ending.close()
    }
  }
}
