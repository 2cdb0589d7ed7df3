import { jobIdOf, type NodeJob } from '@gateway/node-queue/node-job'
import type { Delivery, NextNode } from '@gateway/node-queue/node-worker'
import type { Deps } from '../deps.ts'
import { performNode } from '../perform/perform-node.ts'
import { codeOf } from '../perform/perform-paid-node.ts'
import type { Work, Performed } from '../work.ts'
import { openCancellation, wasStopped, stopSignalOf } from './cancellation.ts'
import { setTimeout as delay } from 'node:timers/promises'
import type {
  ClaimItem,
  ClaimOutcome,
  NodeLease,
  CompleteItem,
  CompleteOutcome,
} from '@gateway/ledger-protocol/flow-items'
import { nullIfUnavailable, pause } from '../retry.ts'
import { refuse } from '@gateway/api/refusal'
import { LedgerRejected } from '@gateway/ledger-client/call-operation'
import type { Ended } from '../metrics.ts'

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
//   N7  The answer to a completion has the free nodes that are ready because of it. If this worker gets the first
//       delivery of the job of one soon after, it runs it without a claim. Any other worker claims it.

/** Runs a job: claim, perform, complete. Returns the node to continue with, or null. */
export async function runNode(
  deps: Deps,
  { execution, node, attempt }: NodeJob,
  { signal, isFirst, mayGoOn }: Delivery,
): Promise<NextNode | null> {
  const lease = { execution, node, lease: deps.newLease() }
  const claim = isFirst ? deps.readyNodes.take(jobIdOf({ execution, node, attempt })) : null // N7
  const work = claim
    ? { claim, lease: { ...lease, instance: deps.instance.id() } }
    : await claimNode(deps, lease, { attempt, isFirst }, signal) // N1
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
    const { recorded, next } = await completeNode(deps, work, performed, { durationMs, goesOn, signal }) // N3, N4, N5
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

// A claim without a response may have been granted (N5). Repeating it grants the same lease again.
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
async function claimNode(
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

/** Maximum duration that the ledger accepts. */
const LONGEST_MS = 3_600_000

/**
 * Records the end of a node, retrying until the ledger responds (N5). Returns how it was recorded and
 * the node to continue with.
 * @param goesOn requests another node of the execution (N6 of run-node.ts)
 */
async function completeNode(
  {
    ledger,
    log,
    instance,
    newLease,
    readyNodes,
  }: Pick<Deps, 'ledger' | 'log' | 'instance' | 'newLease' | 'readyNodes'>,
  { claim: { callReservation, isUnrecorded }, lease: { execution, node, lease, instance: claimant } }: Work,
  { result, usage, remoteMs, timing, costPico }: Performed,
  { durationMs, goesOn, signal }: { durationMs: number; goesOn: boolean; signal: AbortSignal },
): Promise<{ recorded: Ended; next: Work | null }> {
  const measured = { durationMs: whole(durationMs), remoteMs: remoteMs === null ? null : whole(remoteMs) }
  const item = {
    execution,
    node,
    lease,
    usage,
    measured,
    ...(callReservation !== '' && { reservation: callReservation }),
    ...(timing && { timing }),
    ...(costPico && { costPico }),
    ...(isUnrecorded && { instance: claimant }),
  }
  const next = goesOn ? { lease: newLease(), instance: instance.id() } : null
  try {
    return await record({ ...item, result, ...(next && { next }) })
  } catch (error) {
    if (!(error instanceof LedgerRejected)) throw error
    // A result that the ledger rejects as malformed is a bug, but the node must not stay leased because of it.
    log.error({ err: error, execution, node }, 'result of a node refused by the ledger')
    return record({ ...item, result: { kind: 'failed', error: JSON.stringify(refuse('node_failed', { node }).body) } })
  }

  async function record(item: Omit<CompleteItem, 'op'>): Promise<{ recorded: Ended; next: Work | null }> {
    const outcome = isUnrecorded ? await completeUnrecorded(item) : await ledger.complete(item)
    if (outcome.kind === 'quarantined') log.error({ execution, node }, 'result of a node quarantined by the ledger')
    if (outcome.kind !== 'completed') return { recorded: outcome.kind, next: null }
    readyNodes.keep(execution, outcome.ready ?? [])
    const claim = outcome.next
    const work = claim && item.next ? { claim, lease: { execution, node: claim.node.id, ...item.next } } : null
    return { recorded: item.result.kind, next: work }
  }

  /** C1: no lease is on record. Another worker may have the node once this one, which may be stopping, gives up its job. */
  async function completeUnrecorded(item: Omit<CompleteItem, 'op'>): Promise<CompleteOutcome> {
    for (let failures = 1; ; failures++) {
      const outcome = await nullIfUnavailable(() => ledger.complete(item, { budgetMs: CLAIM_MS }))
      if (outcome !== null) return outcome
      if (instance.silent() || signal.aborted) throw new LedgerSilent()
      await pause(failures, signal)
    }
  }
}

function whole(ms: number): number {
  return Math.min(Math.max(0, Math.round(ms)), LONGEST_MS)
}
