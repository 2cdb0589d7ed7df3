import { setTimeout as delay } from 'node:timers/promises'
import type { ClaimOutcome, NodeLease } from '@gateway/ledger-protocol/flow-items'
import type { Deps } from '../deps.ts'
import { nullIfUnavailable, pause } from '../retry.ts'
import type { Lease, Work } from '../work.ts'
import { stopSignalOf } from './cancellation.ts'

// A claim without an answer may have been granted (N5 of run-node.ts). It is repeated: the same lease is granted again.
//   C1  A worker that the ledger no longer hears holds up no one: it lets go of the job, which is requeued for another.
//   C2  What it let go of and was granted after all it gives back as soon as it is heard again.

/** The ledger does not answer for so long that the job is let go of (C1). */
export class LedgerSilent extends Error {
  constructor() {
    super('the ledger is silent')
  }
}

type ClaimDeps = Pick<Deps, 'ledger' | 'instance'>

const CLAIM_MS = 2_000
const AGAIN_MS = 1_000

/** Asks for a node; null: there is nothing to do. Rejects with the signal's reason when this worker stops, and with LedgerSilent. */
export async function claimNode(
  deps: ClaimDeps,
  node: NodeLease,
  attempt: number,
  signal: AbortSignal,
): Promise<Work | null> {
  const { instance } = deps
  const stop = stopSignalOf(signal)
  for (let failures = 1; ; failures++) {
    stop.throwIfAborted()
    const lease = { ...node, instance: instance.id() }
    const outcome = await ask(deps, lease, attempt)
    if (outcome?.kind === 'claimed') return { claim: outcome, lease }
    if (outcome?.kind === 'nothing-to-do' || outcome?.kind === 'quarantined') return null // its job comes again
    if (outcome === null && instance.silent()) {
      void giveBack(deps, lease, attempt)
      throw new LedgerSilent() // C1
    }
    await pause(failures, stop)
  }
}

/** C2. Without its own end: it is over with the ledger's answer, or with this process. */
async function giveBack(deps: ClaimDeps, lease: Lease, attempt: number): Promise<void> {
  const { execution, node } = lease
  let answer = await ask(deps, lease, attempt).catch(() => undefined)
  while (answer === null) {
    await delay(AGAIN_MS, undefined, { ref: false })
    answer = await ask(deps, lease, attempt).catch(() => undefined)
  }
  if (answer?.kind !== 'claimed') return
  const result = { kind: 'given-back' as const }
  const measured = { durationMs: 0, remoteMs: null }
  const item = { execution, node, lease: lease.lease, result, usage: null, measured }
  await deps.ledger.complete(item).catch(() => {}) // where even this fails, the lease ends with its instance
}

async function ask({ ledger, instance }: ClaimDeps, lease: Lease, attempt: number): Promise<ClaimOutcome | null> {
  return nullIfUnavailable(async () => {
    const outcome = await ledger.claim({ ...lease, attempt }, { budgetMs: CLAIM_MS })
    if (outcome.kind === 'instance-unknown') await instance.renew()
    return outcome
  })
}
