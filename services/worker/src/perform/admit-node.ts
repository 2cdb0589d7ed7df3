import { setTimeout as delay } from 'node:timers/promises'
import type { AdmitNodeItem } from '@gateway/contracts/flow-items'
import { refusalFor } from '@gateway/contracts/ledger-refusal'
import type { Admitted, AdmitNodeOutcome, RefusedItem } from '@gateway/contracts/ledger-outcomes'
import { flowLimits } from '@gateway/contracts/limits'
import type { LedgerClient } from '@gateway/ledger-client/ledger-client'
import { LedgerUnavailable } from '@gateway/ledger-client/ledger-failures'
import type { CountExactly } from '@gateway/tokens/exact-count'
import type { PaidCall } from '../kinds/paid-kind.ts'
import type { Metrics } from '../metrics.ts'
import { backOffMs } from '../run/back-off.ts'
import type { Work } from '../run/run-node.ts'

// Asks the ledger to hold what the call of a node may cost.
//   A1  It is asked under the id of this attempt, any number of times: it holds once.
//   A2  What its bytes alone would refuse is counted once, as with a direct call (decisions.md, 2).
//   A3  What would fit but for what other calls hold is asked again, for half a minute: they end and free it. Siblings of one
//       run that a wallet can pay one after the other are thus all run.
//   A4  A ledger that can not be reached is waited for: what ends this is the end of the run's time.

/** The lease is not ours any more, or the run has begun to fail (`fenced`), or this process was declared dead. */
export class LeaseLost extends Error {
  readonly why: 'fenced' | 'instance-unknown'

  constructor(why: LeaseLost['why']) {
    super(`the lease was lost: ${why}`)
    this.why = why
  }
}

/**
 * Rejects with a Refusal as the ledger decided, with LeaseLost, or with the signal's reason.
 */
export type AdmitNode = (work: Work, call: PaidCall, signal: AbortSignal) => Promise<Admitted>

interface Deps {
  ledger: Pick<LedgerClient, 'admitNode'>
  countExactly: CountExactly
  metrics: Pick<Metrics, 'waitedForFunds'>
  /** Monotonic milliseconds. */
  now: () => number
}

const ADMISSION_MS = 5_000

export function nodeAdmitter({ ledger, countExactly, metrics, now }: Deps): AdmitNode {
  return async (work, call, signal) => {
    const startedMs = now()
    let waited = false
    let counted: number | null | undefined // undefined: whether a count helps was not looked at
    for (let tries = 1; ; tries++) {
      signal.throwIfAborted()
      const outcome = await ask(itemOf(work, call, counted ?? null))
      if (outcome === null) {
        await pause(backOffMs(tries), signal) // A4
        continue
      }
      switch (outcome.kind) {
        case 'admitted':
          if (waited) metrics.waitedForFunds('admitted', now() - startedMs)
          return outcome
        case 'fenced':
        case 'instance-unknown':
          throw new LeaseLost(outcome.kind)
        case 'refused':
          if (counted === undefined) {
            counted = await countOf(work, call, outcome)
            if (counted !== null) continue // A2
          }
          if (!fitsLater(outcome) || now() - startedMs >= flowLimits.fundsWaitMs) {
            if (waited) metrics.waitedForFunds('refused', now() - startedMs)
            throw refusalFor(outcome, 'node')
          }
          waited = true // A3
          break
      }
      await pause(backOffMs(tries), signal)
    }
  }

  /** null: the ledger can not be reached. */
  async function ask(item: Omit<AdmitNodeItem, 'op'>): Promise<AdmitNodeOutcome | null> {
    try {
      return await ledger.admitNode(item, { budgetMs: ADMISSION_MS })
    } catch (error) {
      if (error instanceof LedgerUnavailable) return null
      throw error
    }
  }

  function countOf({ claim }: Work, { request }: PaidCall, refused: RefusedItem): Promise<number | null> {
    return request ? countExactly({ payer: claim.project, request }, refused) : Promise.resolve(null)
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

/** Whether it would fit if nothing else were held (A3). */
function fitsLater({ code, facts }: RefusedItem): boolean {
  if (code !== 'insufficient_budget' && code !== 'key_limit') return false
  if (facts.reservedMicro <= 0) return false
  return code === 'insufficient_budget'
    ? facts.availableMicro + facts.reservedMicro >= facts.neededMicro
    : facts.spentMicro + facts.neededMicro <= facts.limitMicro
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => {})
}
