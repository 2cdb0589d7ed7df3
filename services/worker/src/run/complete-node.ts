import type { CompleteItem } from '@gateway/ledger-protocol/flow-items'
import { refuse } from '@gateway/api/refusal'
import { LedgerRejected } from '@gateway/ledger-client/call-operation'
import type { Deps } from '../deps.ts'
import type { Ended } from '../metrics.ts'
import type { Performed, Work } from '../work.ts'

/** Maximum duration that the ledger accepts. */
const LONGEST_MS = 3_600_000

/**
 * Records the end of a node, retrying until the ledger responds (N5 of run-node.ts). Returns how it was recorded and
 * the node to continue with.
 * @param goesOn requests another node of the execution (N6 of run-node.ts)
 */
export async function completeNode(
  { ledger, log, instance, newLease }: Pick<Deps, 'ledger' | 'log' | 'instance' | 'newLease'>,
  { claim: { callReservation, isUnrecorded }, lease: { execution, node, lease, instance: claimant } }: Work,
  { result, usage, remoteMs, timing, costPico }: Performed,
  durationMs: number,
  goesOn: boolean,
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
    const outcome = await ledger.complete(item)
    if (outcome.kind === 'quarantined') log.error({ execution, node }, 'result of a node quarantined by the ledger')
    if (outcome.kind !== 'completed') return { recorded: outcome.kind, next: null }
    const claim = outcome.next
    const work = claim && item.next ? { claim, lease: { execution, node: claim.node.id, ...item.next } } : null
    return { recorded: item.result.kind, next: work }
  }
}

function whole(ms: number): number {
  return Math.min(Math.max(0, Math.round(ms)), LONGEST_MS)
}
