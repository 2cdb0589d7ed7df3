import { setTimeout as delay } from 'node:timers/promises'
import type { ClaimItem, ClaimOutcome, NodeLease } from '@gateway/ledger-protocol/flow-items'
import type { Deps } from '../deps.ts'
import { nullIfUnavailable, pause } from '../retry.ts'
import type { Work } from '../work.ts'
import { stopSignalOf } from './cancellation.ts'

// A claim without a response may have been granted (N5 of run-node.ts). Repeating it grants the same lease again.
//   C1  A worker that can't reach the ledger must not block a node: it drops the job, which is requeued for another
//       worker.
//   C2  If a dropped claim was granted after all, the worker gives it back as soon as the ledger is reachable again.

/** The ledger has been unreachable for too long, so the job is dropped (C1). */
export class LedgerSilent extends Error {
  constructor() {
    super('the ledger is silent')
  }
}

type ClaimDeps = Pick<Deps, 'ledger' | 'instance'>

const CLAIM_MS = 2_000
const AGAIN_MS = 1_000

/**
 * Claims a node. Returns null if there is nothing to do. Rejects with the signal's reason when this worker stops, or
 * with LedgerSilent.
 */
export async function claimNode(
  deps: ClaimDeps,
  node: NodeLease,
  { attempt, isFirst }: { attempt: number; isFirst: boolean },
  signal: AbortSignal,
): Promise<Work | null> {
  const { instance } = deps
  const stop = stopSignalOf(signal)
  for (let failures = 1; ; failures++) {
    stop.throwIfAborted()
    const lease = { ...node, instance: instance.id() }
    const item = { ...lease, attempt, ...(isFirst && { isFirst: true as const }) }
    const outcome = await ask(deps, item)
    if (outcome?.kind === 'claimed') return { claim: outcome, lease }
    if (outcome?.kind === 'nothing-to-do' || outcome?.kind === 'quarantined') return null // its job is delivered again
    if (outcome === null && instance.silent()) {
      void giveBack(deps, item)
      throw new LedgerSilent() // C1
    }
    await pause(failures, stop)
  }
}

/** C2. Runs until the ledger responds or this process ends. */
async function giveBack(deps: ClaimDeps, item: Omit<ClaimItem, 'op'>): Promise<void> {
  const { execution, node, lease } = item
  let answer = await ask(deps, item).catch(() => undefined)
  while (answer === null) {
    await delay(AGAIN_MS, undefined, { ref: false })
    answer = await ask(deps, item).catch(() => undefined)
  }
  if (answer?.kind !== 'claimed') return
  const result = { kind: 'given-back' as const }
  const measured = { durationMs: 0, remoteMs: null }
  // If this fails too, the lease ends with its instance.
  await deps.ledger.complete({ execution, node, lease, result, usage: null, measured }).catch(() => {})
}

async function ask({ ledger, instance }: ClaimDeps, item: Omit<ClaimItem, 'op'>): Promise<ClaimOutcome | null> {
  return nullIfUnavailable(async () => {
    const outcome = await ledger.claim(item, { budgetMs: CLAIM_MS })
    if (outcome.kind === 'instance-unknown') await instance.renew()
    return outcome
  })
}
