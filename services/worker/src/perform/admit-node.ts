import type { AdmitNodeItem } from '@gateway/ledger-protocol/flow-items'
import { refusalFor } from '@gateway/ledger-protocol/ledger-refusal'
import type { Admitted, RefusedItem } from '@gateway/ledger-protocol/ledger-outcomes'
import { flowLimits } from '@gateway/api/limits'
import { ADMISSION_MS, openAdmission } from '@gateway/ledger-client/open-admission'
import { startSpan } from '@gateway/service-kit/process/spans'
import type { Deps } from '../deps.ts'
import type { PaidCall } from '../kinds/paid-kind.ts'
import { nullIfUnavailable, pause } from '../retry.ts'
import { LeaseLost, type Work } from '../work.ts'

// Asks the ledger to reserve the max cost of a node's call.
//   A1  The request carries the ID of this attempt and may be repeated: the ledger reserves once.
//   A2  If the bound by bytes alone would be refused, the tokens are counted once, as for a direct call (money §2.4).
//       If counting is not possible now, the node waits and retries.
//   A3  A call that does not fit only because of other reservations is retried for half a minute, until those calls end
//       and release them. So siblings run in sequence if the wallet or ceiling can't cover them together.
//   A4  An unreachable ledger is retried until the deadline of the execution.

type AdmitDeps = Pick<Deps, 'ledger' | 'countExactly' | 'metrics' | 'now'>

/** Rejects with the ledger's Refusal, with LeaseLost, or with the signal's reason. */
export async function admitNode(deps: AdmitDeps, work: Work, call: PaidCall, signal: AbortSignal): Promise<Admitted> {
  const startedMs = deps.now()
  const waitedMs = () => deps.now() - startedMs
  let waited = false
  const admit = openAdmission({
    ask: (counted) =>
      nullIfUnavailable(() => deps.ledger.admitNode(itemOf(work, call, counted), { budgetMs: ADMISSION_MS })),
    count: async (refused) => {
      if (!call.request) return { kind: 'stands' }
      return deps.countExactly({ payer: work.claim.project, request: call.request }, refused)
    },
  })
  for (let tries = 1; ; tries++) {
    signal.throwIfAborted()
    const outcome = await admit()
    switch (outcome?.kind) {
      case undefined: // A4
      case 'uncounted': // A2
        break
      case 'admitted':
        if (waited) recordWait(deps, 'admitted', waitedMs())
        return outcome
      case 'fenced':
      case 'instance-unknown':
        throw new LeaseLost(outcome.kind)
      case 'refused':
        if (!fitsLater(outcome) || waitedMs() >= flowLimits.fundsWaitMs) {
          if (waited) recordWait(deps, 'refused', waitedMs())
          throw refusalFor(outcome, 'node')
        }
        waited = true // A3
    }
    await pause(tries, signal)
  }
}

function itemOf(
  { claim, lease }: Work,
  { product, parameters, promptSize }: PaidCall,
  counted: number | null,
): Omit<AdmitNodeItem, 'op'> {
  return {
    ...lease,
    id: claim.callReservation, // A1
    model: product,
    parameters,
    promptSize: { ...promptSize, counted },
  }
}

/** Whether the call would fit without other reservations (A3). */
function fitsLater({ code, facts }: RefusedItem): boolean {
  if (code === 'insufficient_budget')
    return facts.reservedMicro > 0 && facts.availableMicro + facts.reservedMicro >= facts.neededMicro
  if (code === 'key_limit' || code === 'budget_reached')
    return facts.reservedMicro > 0 && facts.spentMicro + facts.neededMicro <= facts.limitMicro
  if (code === 'ceiling_reached')
    return facts.reservedMicro > 0 && facts.chargedMicro + facts.neededMicro <= facts.maxMicro
  return false
}

/** Records a finished wait for funds as a metric and as a span. */
function recordWait({ metrics }: Pick<Deps, 'metrics'>, outcome: 'admitted' | 'refused', ms: number): void {
  startSpan('wait for money', { attributes: { 'service.outcome': outcome }, startTime: Date.now() - ms }).end()
  metrics.waitedForFunds(outcome, ms)
}
