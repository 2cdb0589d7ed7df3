import type { Claimed } from '@gateway/ledger-protocol/flow-items'
import { jobIdOf } from '@gateway/node-queue/node-job'

/** Free nodes that the ledger granted with completions, until their jobs are delivered (N7 of run-node.ts). */
export interface ReadyNodes {
  keep(execution: string, ready: readonly Claimed[]): void
  /** Returns what a claim would, or null. */
  take(jobId: string): Claimed | null
}

/** Another worker has the job by then. */
const READY_MS = 2_000
const MAX_READY = 1_000

export function openReadyNodes(now: () => number): ReadyNodes {
  const kept = new Map<string, { claim: Claimed; atMs: number }>()
  return {
    keep(execution, ready) {
      for (const claim of ready) {
        if (kept.size >= MAX_READY) return
        const id = jobIdOf({ execution, node: claim.node.id, attempt: claim.attempt })
        const one = { claim, atMs: now() }
        kept.set(id, one)
        setTimeout(() => kept.get(id) === one && kept.delete(id), READY_MS).unref()
      }
    },
    take(jobId) {
      const one = kept.get(jobId)
      kept.delete(jobId)
      return one ? { ...one.claim, remainingMs: one.claim.remainingMs - (now() - one.atMs) } : null
    },
  }
}
