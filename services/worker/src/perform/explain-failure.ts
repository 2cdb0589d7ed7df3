import { AssetStoreUnavailable } from '@gateway/assets/asset-failures'
import type { CompleteItem } from '@gateway/contracts/flow-items'
import { Refusal, refuse } from '@gateway/contracts/refusal'
import { LedgerUnavailable } from '@gateway/ledger-client/ledger-failures'
import { ProviderFailure } from '@gateway/providers/provider-failure'
import { refusalOfProvider } from '@gateway/providers/refusal-of-provider'
import type { Logger } from '@gateway/process/logger'
import type { Work } from '../run/run-node.ts'
import { WorkEnded } from '../run/work-ended.ts'
import { LeaseLost } from './admit-node.ts'

/** What becomes of a node whose work failed. */
export type ExplainFailure = (error: unknown, work: Work) => CompleteItem['result']

/** Whatever fails, the node's author is told what he can do about it; what nobody expected is logged, and he is told that. */
export function failureExplainer({ log }: { log: Pick<Logger, 'error' | 'warn'> }): ExplainFailure {
  return (error, { lease: { execution, node } }) => {
    if (error instanceof WorkEnded && error.why === 'stopping') return { kind: 'given-back' }
    // The ledger knows best whether the lease still stands: it takes this, or says `fenced`.
    if (error instanceof LeaseLost && error.why === 'instance-unknown') return { kind: 'given-back' }
    const refusal = refusalOf(error) ?? unexpected()
    return { kind: 'failed', error: JSON.stringify(refusal.body) }

    function refusalOf(error: unknown): Refusal | null {
      if (error instanceof Refusal) return error
      if (error instanceof ProviderFailure) return refusalOfProvider(error)
      if (error instanceof LedgerUnavailable || error instanceof AssetStoreUnavailable) {
        log.warn({ err: error, execution, node }, 'a node failed because a part of the stack can not be reached')
        return refuse('unavailable', {})
      }
      if (error instanceof WorkEnded && error.why === 'overdue') return refuse('execution_timeout', { started: true })
      return error instanceof WorkEnded || error instanceof LeaseLost ? refuse('node_failed', { node }) : null
    }

    function unexpected(): Refusal {
      log.error({ err: error, execution, node }, 'a node failed for no reason that was foreseen')
      return refuse('node_failed', { node })
    }
  }
}
