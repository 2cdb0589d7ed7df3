import { setTimeout as delay } from 'node:timers/promises'
import type { Claimed, NodeLease } from '@gateway/contracts/flow-items'
import type { Instance } from '@gateway/ledger-client/instance'
import type { LedgerClient } from '@gateway/ledger-client/ledger-client'
import { LedgerUnavailable } from '@gateway/ledger-client/ledger-failures'
import { backOffMs } from './back-off.ts'
import type { Lease } from './run-node.ts'
import { stopSignalOf } from './stop-signal.ts'

// A claim without an answer may have been granted (N5). It is repeated: the same lease is granted again.
//   C1  A worker that the ledger no longer hears holds up nobody: it lets go of the job, which is rung again for another.
//   C2  What it let go of and was granted after all it gives back as soon as it is heard again.

/** Asks for a node; null: there is nothing to do. Rejects with the signal's reason when this worker stops, and with LedgerSilent. */
export type ClaimNode = (
  lease: NodeLease,
  attempt: number,
  signal: AbortSignal,
) => Promise<{ claim: Claimed; lease: Lease } | null>

interface Deps {
  ledger: Pick<LedgerClient, 'claim' | 'complete'>
  instance: Pick<Instance, 'id' | 'renew'>
  /** Whether the ledger has not been heard for so long that it takes this process for dead. */
  silent: () => boolean
}

/** The ledger does not answer for so long that the job is let go of (C1). */
export class LedgerSilent extends Error {
  constructor() {
    super('the ledger is silent')
  }
}

const CLAIM_MS = 2_000
const AGAIN_MS = 1_000

export function nodeClaimer({ ledger, instance, silent }: Deps): ClaimNode {
  return async (node, attempt, signal) => {
    const stop = stopSignalOf(signal)
    for (let tries = 1; ; tries++) {
      stop.throwIfAborted()
      const lease = { ...node, instance: instance.id() }
      const outcome = await ask(lease, attempt)
      if (outcome?.kind === 'claimed') return { claim: outcome, lease }
      if (outcome?.kind === 'nothing-to-do') return null
      if (outcome === null && silent()) {
        void giveBack(lease, attempt)
        throw new LedgerSilent() // C1
      }
      await delay(backOffMs(tries), undefined, { signal: stop }).catch(() => {})
    }
  }

  /** C2. Without an end of its own: it is over with the ledger's answer, or with this process. */
  async function giveBack(lease: Lease, attempt: number): Promise<void> {
    const { execution, node } = lease
    let answer = await ask(lease, attempt).catch(() => undefined)
    while (answer === null) {
      await delay(AGAIN_MS, undefined, { ref: false })
      answer = await ask(lease, attempt).catch(() => undefined)
    }
    if (answer?.kind !== 'claimed') return
    const result = { kind: 'given-back' as const }
    const item = { execution, node, lease: lease.lease, result, usage: null, durationMs: 0, remoteMs: null }
    await ledger.complete(item).catch(() => {}) // it could not be told, and then it ends with its instance
  }

  async function ask(lease: Lease, attempt: number) {
    try {
      const outcome = await ledger.claim({ ...lease, attempt }, { budgetMs: CLAIM_MS })
      if (outcome.kind === 'instance-unknown') await instance.renew()
      return outcome
    } catch (error) {
      if (error instanceof LedgerUnavailable) return null
      throw error
    }
  }
}
